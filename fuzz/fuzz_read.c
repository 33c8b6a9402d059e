/* fuzz_read.c - the input is a file: it is refused, or it is a set that can be used.
 *
 * A changed file would never pass the checksums, so those of the header and the body are corrected
 * first, as an attacker would do. The last byte says whether this is done.
 */
#include "fuzz.h"
#include "seal.h"

#include <tamis/tamis.h>

static void use(tamis_set *set) {
    uint64_t keys[100], counts[100];
    bool     flags[100];
    for (uint64_t i = 0; i < 100; i++) keys[i] = i;
    (void)tamis_has_id_batch(set, keys, 100, flags);
    (void)!tamis_add_id_batch(set, keys, 100, NULL);
    (void)!tamis_count_id_batch(set, keys, 100, counts);
    (void)!tamis_remove_id_batch(set, keys, 100, flags, NULL);
    tamis_info info;
    must(tamis_inspect(set, &info) == TAMIS_OK && tamis_validate(set, NULL));
    if (info.facts.grow_to == 0 || info.facts.grow_to > 100000) return;
    (void)!tamis_resize(set, info.facts.grow_to, NULL);
    (void)!tamis_resize(set, info.facts.keys, NULL);
    must(tamis_validate(set, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n == 0) return 0;
    uint8_t *const file = malloc(n);
    if (file == NULL) return 0;
    memcpy(file, bytes, n);
    if (bytes[n - 1] % 8 != 0) seal_file(file, n - 1);
    tamis_set *set = NULL;
    if (tamis_read(file, n - 1, NULL, &set, NULL) == TAMIS_OK) use(set);
    tamis_free(set);
    free(file);
    return 0;
}
