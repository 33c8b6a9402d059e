/* fuzz_read.c - bytes are a file: it is refused, or it is a set that can be used.
 *
 * Mutated bytes never get past a checksum, so the header's and the body's are made right first: the
 * fuzzer plays the attacker who can compute them. The last byte says whether it does.
 */
#include "core/le.h"
#include "fuzz.h"

#include <tamis/tamis.h>
#include <xxhash.h>

#define HEADER 4096
#define BLOCK 65536

static void seal(uint8_t *file, size_t n) {
    if (n < HEADER + 16) return;
    size_t const   rest = n - HEADER - 16, blocks = (rest + BLOCK + 7) / (BLOCK + 8);
    size_t const   body = rest > 8 * blocks ? rest - 8 * blocks : 0;
    uint8_t *const table = file + HEADER + body;
    le64_store(file + 4088, XXH3_64bits(file, 4088));
    for (size_t i = 0; i < blocks && body != 0; i++) {
        size_t const left = body - i * BLOCK;
        le64_store(table + 8 * i,
                   XXH3_64bits(file + HEADER + i * BLOCK, left < BLOCK ? left : BLOCK));
    }
    XXH3_state_t *const state = XXH3_createState();
    if (state == NULL) return;
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, file, HEADER);
    (void)XXH3_128bits_update(state, table, n - HEADER - 16 - body);
    XXH128_hash_t const total = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    le64_store(file + n - 16, total.low64);
    le64_store(file + n - 8, total.high64);
}

static void use(tamis_set *set) {
    uint64_t keys[100], counts[100];
    bool     flags[100];
    for (uint64_t i = 0; i < 100; i++) keys[i] = i;
    (void)tamis_has_id_batch(set, keys, 100, flags);
    (void)!tamis_add_id_batch(set, keys, 100, NULL);
    (void)!tamis_count_id_batch(set, keys, 100, counts);
    (void)!tamis_remove_id_batch(set, keys, 100, flags, NULL);
    tamis_info info;
    if (tamis_inspect(set, &info) != TAMIS_OK || !tamis_validate(set, NULL)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n == 0) return 0;
    uint8_t *const file = malloc(n);
    if (file == NULL) return 0;
    memcpy(file, bytes, n);
    if (bytes[n - 1] % 8 != 0) seal(file, n - 1);
    tamis_set *set = NULL;
    if (tamis_read(file, n - 1, NULL, &set, NULL) == TAMIS_OK) use(set);
    tamis_free(set);
    free(file);
    return 0;
}
