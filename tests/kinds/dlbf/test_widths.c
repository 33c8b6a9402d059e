/* test_widths.c - kinds/dlbf/widths.h against a loop over the cells. */
#include "core_units.h"

#include "kinds/dlbf/widths.h"

static bool oracle_have(const uint8_t *from, unsigned at, unsigned bits, unsigned n,
                        uint64_t value) {
    for (unsigned cell = 0; cell < n; cell++) {
        uint64_t here = 0;
        for (unsigned i = 0; i < bits; i++) {
            here |= (uint64_t)read_bit(from, at + cell * bits + i) << i;
        }
        if (here == value) return true;
    }
    return false;
}

/* In a block of 8 to 64 bytes behind which nothing may be read. */
static void widths_have_finds_what_a_loop_finds(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 200000; round++) {
        unsigned const bytes = 8u << dice_below(&random, 4);
        unsigned const bits =
            WIDTHS_MIN + (unsigned)dice_below(&random, WIDTHS_MAX - WIDTHS_MIN + 1);
        unsigned const at = (unsigned)dice_below(&random, 8 * bytes + 1);
        unsigned const room = (8 * bytes - at) / bits;
        unsigned const n = (unsigned)dice_below(&random, (room < 15 ? room : 15) + 1);
        static fenced  memory;
        if (memory.bytes == NULL) memory = fenced_new(64);
        uint8_t *const block = memory.bytes + 64 - bytes;
        dice_fill(&random, block, bytes);
        uint64_t value = dice_roll(&random) & bits_low(bits);
        if (n != 0 && dice_below(&random, 2) == 0) {
            unsigned const cell = (unsigned)dice_below(&random, n);
            value = 0;
            for (unsigned i = 0; i < bits; i++) {
                value |= (uint64_t)read_bit(block, at + cell * bits + i) << i;
            }
        }
        assert_int_equal(widths_have(block, at, bits, n, value),
                         oracle_have(block, at, bits, n, value));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(widths_have_finds_what_a_loop_finds),
};

CORE_EXPORT(widths)
