/* test_memory.c - core/memory.h: memory is aligned, zero and freed; the allocator is used. */
#include "core_units.h"
#include "ledger.h"

#include "core/memory.h"

#include <fcntl.h>

#define MIB ((size_t)1 << 20)

/* A size that the compiler does not know, so that it cannot warn about it. */
static size_t unforeseen(size_t bytes) {
    size_t volatile hidden = bytes;
    return hidden;
}

static const tamis_allocator system_memory = { NULL, NULL, NULL };

static bool is_zero(const uint8_t *memory, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (memory[i] != 0) return false;
    }
    return true;
}

/* How many pages the process has mapped. Finding out must not allocate memory. */
static long mapped_pages(void) {
    char      text[200] = { 0 };
    int const file = open("/proc/self/statm", O_RDONLY);
    if (file < 0) return -1;
    ssize_t const n = read(file, text, sizeof text - 1);
    (void)close(file);
    return n > 0 ? strtol(text, NULL, 10) : -1;
}

/* ------------------------------------------------------------------ the system's */

static void memory_get_is_aligned_and_zero(void **state) {
    (void)state;
    for (size_t bytes = 1; bytes <= 1000; bytes++) {
        uint8_t *const memory = memory_get(&system_memory, bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % TAMIS_LINE_BYTES, 0);
        assert_true(is_zero(memory, bytes));
        memset(memory, 0xff, bytes); /* so that the next one is dirty */
        memory_give(&system_memory, memory, bytes);
    }
}

static void memory_is_huge_from_4_mib_without_an_allocator(void **state) {
    (void)state;
    tamis_allocator some = system_memory;
    some.alloc = (void *(*)(void *, size_t, size_t))(uintptr_t)1;
    assert_false(memory_is_huge(&system_memory, 4 * MIB - 1));
    assert_true(memory_is_huge(&system_memory, 4 * MIB));
    assert_true(memory_is_huge(&system_memory, SIZE_MAX));
    assert_false(memory_is_huge(&some, 4 * MIB));
    assert_false(memory_is_huge(&some, SIZE_MAX));
}

static const size_t large_sizes[] = { 4 * MIB - 1,    4 * MIB,        4 * MIB + 1, 4 * MIB + 4095,
                                      4 * MIB + 4096, 4 * MIB + 4097, 6 * MIB,     7 * MIB + 123,
                                      8 * MIB - 1,    16 * MIB };

static void memory_get_is_aligned_to_huge_pages_when_large(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(large_sizes); i++) {
        size_t const   bytes = large_sizes[i];
        size_t const   alignment = bytes >= 4 * MIB ? 2 * MIB : TAMIS_LINE_BYTES;
        uint8_t *const memory = memory_get(&system_memory, bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % alignment, 0);
        assert_true(is_zero(memory, bytes));
        memset(memory, 0xff, bytes);
        memory_give(&system_memory, memory, bytes);
    }
}

/* The page that was mapped for the alignment goes back at once, the rest in the end. */
static void memory_give_returns_every_huge_page(void **state) {
    (void)state;
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < COUNT(large_sizes); i++) {
        size_t const bytes = large_sizes[i];
        if (bytes < 4 * MIB) continue;
        long const  before = mapped_pages();
        void *const memory = memory_get(&system_memory, bytes);
        long const  during = mapped_pages();
        memory_give(&system_memory, memory, bytes);
        if (before < 0 || getenv("TAMIS_EMULATED") != NULL) return; /* /proc is not ours */
        assert_int_equal(during - before, memory_whole_pages(bytes) / page);
        assert_int_equal(mapped_pages(), before);
    }
}

/* Many large blocks at once: cutting off the end of one must not damage another. */
static void memory_get_keeps_large_bodies_apart(void **state) {
    (void)state;
    uint8_t *memory[8];
    for (unsigned i = 0; i < 8; i++) {
        memory[i] = memory_get(&system_memory, 4 * MIB + 4096 * i);
        assert_non_null(memory[i]);
        memset(memory[i], (int)i + 1, 4 * MIB + 4096 * i);
    }
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(memory[i][0], i + 1);
        assert_int_equal(memory[i][4 * MIB + 4096 * i - 1], i + 1);
        memory_give(&system_memory, memory[i], 4 * MIB + 4096 * i);
    }
}

/* Rounding up must not turn an impossible size into a small one. */
static void memory_get_refuses_sizes_that_would_wrap(void **state) {
    (void)state;
    static const size_t below[] = {
        0,      1,    62,   63,          64,      65,          4094,
        4095,   4096, 4097, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 2 * MIB + 4096,
        4 * MIB
    };
    for (size_t i = 0; i < COUNT(below); i++) {
        assert_null(memory_get(&system_memory, unforeseen(SIZE_MAX - below[i])));
    }
    if (sizeof(void *) > 4) /* with 32 bits there may be so much: 2 GiB */
        assert_null(memory_get(&system_memory, unforeseen(SIZE_MAX / 2)));
    assert_null(memory_get(&system_memory, unforeseen(SIZE_MAX / 2 + 1)));
}

/* ------------------------------------------------------------------ the caller's */

static void memory_get_asks_the_allocator_for_every_size(void **state) {
    (void)state;
    static const size_t sizes[] = { 1, 63, 64, 65, 4096, 4 * MIB - 1, 4 * MIB, 5 * MIB + 1 };
    ledger              book = { 0 };
    tamis_allocator     own = ledger_allocator(&book);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint8_t *const memory = memory_get(&own, sizes[i]);
        assert_ptr_equal(memory, book.last.memory);
        assert_int_equal(book.requests, i + 1);
        assert_int_equal(book.last.bytes, sizes[i]);
        assert_int_equal(book.last.alignment, TAMIS_LINE_BYTES);
        assert_true(is_zero(memory, sizes[i]));
        memory_give(&own, memory, sizes[i]);
        assert_int_equal(book.returns, i + 1);
        assert_int_equal(book.returned.bytes, sizes[i]);
        assert_ptr_equal(book.returned.memory, book.last.memory);
    }
}

static void memory_get_is_null_when_the_allocator_has_nothing(void **state) {
    (void)state;
    ledger          book = { .is_empty = true };
    tamis_allocator own = ledger_allocator(&book);
    assert_null(memory_get(&own, 1));
    assert_null(memory_get(&own, 4 * MIB));
    assert_null(memory_get(&own, unforeseen(SIZE_MAX / 2)));
    assert_int_equal(book.requests, 3);
    assert_null(memory_get(&own, unforeseen(SIZE_MAX)));
    assert_int_equal(book.returns, 0);
}

static void memory_give_of_null_does_nothing(void **state) {
    (void)state;
    ledger          book = { 0 };
    tamis_allocator own = ledger_allocator(&book);
    memory_give(&own, NULL, 100);
    memory_give(&system_memory, NULL, 100);
    memory_give(&system_memory, NULL, 8 * MIB);
    assert_int_equal(book.returns, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(memory_get_is_aligned_and_zero),
    cmocka_unit_test(memory_is_huge_from_4_mib_without_an_allocator),
    cmocka_unit_test(memory_get_is_aligned_to_huge_pages_when_large),
    cmocka_unit_test(memory_give_returns_every_huge_page),
    cmocka_unit_test(memory_get_keeps_large_bodies_apart),
    cmocka_unit_test(memory_get_refuses_sizes_that_would_wrap),
    cmocka_unit_test(memory_get_asks_the_allocator_for_every_size),
    cmocka_unit_test(memory_get_is_null_when_the_allocator_has_nothing),
    cmocka_unit_test(memory_give_of_null_does_nothing),
};

CORE_EXPORT(memory)
