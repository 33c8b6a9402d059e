/* test_keyhash.c - src/keyhash.h, keybytes.h: keys and ids are hashed to 64 bits, and every bit of
 * the seed matters. */
#include "unit.h"

#include "keybytes.h"

static const tamis_hash hashes[] = { TAMIS_HASH_XXH3, TAMIS_HASH_SIPHASH };

/* Lengths at which XXH3 changes its method, and their neighbours. */
static const size_t lengths[] = { 0,  1,   2,   3,   4,   5,   8,   9,   15,  16,
                                  17, 127, 128, 129, 130, 239, 240, 241, 1000 };

/* ------------------------------------------------------------------ bytes */

/* The vectors that the authors of SipHash-2-4 published: key 00 01 .. 0f, message 00 01 .. n-1. */
static void keyhash_siphash_is_the_published_function(void **state) {
    (void)state;
    static const struct {
        size_t   bytes;
        uint64_t hash;
    } published[] = {
        { 0, UINT64_C(0x726fdb47dd0e0e31) },
        { 1, UINT64_C(0x74f839c593dc67fd) },
        { 15, UINT64_C(0xa129ca6149be45e5) },
    };
    tamis_seed const seed = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
    keyhash const    with = keyhash_make(TAMIS_HASH_SIPHASH, seed);
    uint8_t          message[16];
    for (unsigned i = 0; i < sizeof message; i++) message[i] = (uint8_t)i;
    if (!keyhash_is_built(TAMIS_HASH_SIPHASH)) return;
    for (size_t i = 0; i < COUNT(published); i++) {
        assert_int_equal(keyhash_bytes(&with, message, published[i].bytes), published[i].hash);
    }
}

/* Flipping any bit of the seed gives another hash. */
static void check_seed_bits(tamis_hash hash, const uint8_t *key, size_t bytes) {
    tamis_seed const seed = { 12345, 67890 };
    keyhash const    with = keyhash_make(hash, seed);
    uint64_t const   first = keyhash_bytes(&with, key, bytes);
    for (unsigned bit = 0; bit < 128; bit++) {
        tamis_seed other = seed;
        if (bit < 64)
            other.low ^= UINT64_C(1) << bit;
        else
            other.high ^= UINT64_C(1) << (bit - 64);
        keyhash const flipped = keyhash_make(hash, other);
        assert_true(keyhash_bytes(&flipped, key, bytes) != first);
    }
}

static void keyhash_bytes_depends_on_every_bit_of_the_seed(void **state) {
    (void)state;
    dice    random = dice_start();
    uint8_t key[1000];
    dice_fill(&random, key, sizeof key);
    for (size_t i = 0; i < COUNT(hashes); i++) {
        if (!keyhash_is_built(hashes[i])) continue;
        for (size_t j = 0; j < COUNT(lengths); j++) {
            check_seed_bits(hashes[i], key, lengths[j]);
        }
    }
}

static void check_key_bits(const keyhash *with, uint8_t *key, size_t bytes) {
    uint64_t const first = keyhash_bytes(with, key, bytes);
    for (size_t bit = 0; bit < bytes * 8; bit++) {
        flip_bit(key, bit);
        assert_true(keyhash_bytes(with, key, bytes) != first);
        flip_bit(key, bit);
    }
}

/* No byte beyond the key is read. */
static void keyhash_bytes_depends_on_every_bit_of_the_key(void **state) {
    (void)state;
    dice random = dice_start();
    for (size_t i = 0; i < COUNT(hashes); i++) {
        keyhash const with = keyhash_make(hashes[i], (tamis_seed){ 1, 2 });
        if (!keyhash_is_built(hashes[i])) continue;
        for (size_t j = 0; j < COUNT(lengths); j++) {
            fenced key = fenced_new(lengths[j]);
            dice_fill(&random, key.bytes, lengths[j]);
            check_key_bits(&with, key.bytes, lengths[j]);
            fenced_free(&key);
        }
    }
}

/* "a" and "a\0" are different keys. */
static void keyhash_bytes_depends_on_the_length(void **state) {
    (void)state;
    uint8_t const zeros[300] = { 0 };
    for (size_t i = 0; i < COUNT(hashes); i++) {
        keyhash const with = keyhash_make(hashes[i], (tamis_seed){ 1, 2 });
        if (!keyhash_is_built(hashes[i])) continue;
        for (size_t n = 0; n < sizeof zeros; n++) {
            for (size_t m = 0; m < n; m++) {
                assert_true(keyhash_bytes(&with, zeros, n) != keyhash_bytes(&with, zeros, m));
            }
        }
    }
}

/* ------------------------------------------------------------------ ids */

static int by_value(const void *a, const void *b) {
    uint64_t const x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#define IDS 65536

static void keyhash_id_never_gives_two_ids_one_hash(void **state) {
    (void)state;
    static uint64_t made[IDS];
    keyhash const   with = keyhash_make(TAMIS_HASH_XXH3, (tamis_seed){ 77, 88 });
    for (uint64_t id = 0; id < IDS; id++) made[id] = keyhash_id(&with, id);
    qsort(made, IDS, sizeof made[0], by_value);
    for (size_t i = 1; i < IDS; i++) assert_true(made[i - 1] < made[i]);
}

/* Each seed gives a one-to-one function, and different seeds give different functions. */
static void keyhash_id_depends_on_both_halves_of_the_seed(void **state) {
    (void)state;
    keyhash const with = keyhash_make(TAMIS_HASH_XXH3, (tamis_seed){ 77, 88 });
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t const flip = UINT64_C(1) << bit;
        keyhash const  low = keyhash_make(TAMIS_HASH_XXH3, (tamis_seed){ 77 ^ flip, 88 });
        keyhash const  high = keyhash_make(TAMIS_HASH_XXH3, (tamis_seed){ 77, 88 ^ flip });
        assert_true(keyhash_id(&with, 5) != keyhash_id(&low, 5));
        assert_true(keyhash_id(&with, 5) != keyhash_id(&high, 5));
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(keyhash_siphash_is_the_published_function),
        cmocka_unit_test(keyhash_bytes_depends_on_every_bit_of_the_seed),
        cmocka_unit_test(keyhash_bytes_depends_on_every_bit_of_the_key),
        cmocka_unit_test(keyhash_bytes_depends_on_the_length),
        cmocka_unit_test(keyhash_id_never_gives_two_ids_one_hash),
        cmocka_unit_test(keyhash_id_depends_on_both_halves_of_the_seed),
    };
    return unit_run("keyhash", tests, COUNT(tests));
}
