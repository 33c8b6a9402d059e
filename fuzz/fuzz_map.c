/* fuzz_map.c - the input is a mapped file of a set or of states: it is refused, or lookups work.
 *
 * The file is in memory (memfd_create), to spare the disk. A mapped table must not be changed; its
 * copy may be. The last byte says whether checksums are corrected first.
 */
#include "fuzz.h"
#include "seal.h"

#include <sys/mman.h>
#include <tamis/tamis.h>
#include <unistd.h>

static void use_set(tamis_set *set) {
    uint64_t   keys[100], counts[100];
    bool       flags[100];
    tamis_set *copy = NULL;
    for (uint64_t i = 0; i < 100; i++) keys[i] = i;
    size_t const n = tamis_has_id_batch(set, keys, 100, flags);
    (void)!tamis_count_id_batch(set, keys, 100, counts);
    must(tamis_validate(set, NULL));
    must(tamis_add_id(set, 1) == TAMIS_ERR_READ_ONLY);
    must(tamis_clear(set) == TAMIS_ERR_READ_ONLY);
    if (tamis_copy(set, &copy) != TAMIS_OK) return;
    must(tamis_has_id_batch(copy, keys, 100, NULL) == n);
    (void)!tamis_add_id_batch(copy, keys, 100, NULL);
    (void)!tamis_remove_id_batch(copy, keys, 100, flags, NULL);
    must(tamis_validate(copy, NULL));
    tamis_free(copy);
}

static void use_states(tamis_states *states) {
    tamis_states *copy = NULL;
    uint32_t      value;
    for (uint64_t id = 0; id < 100; id++) (void)!tamis_states_get_id(states, id, &value);
    must(tamis_states_validate(states, NULL));
    must(tamis_states_put_id(states, 1, 0) == TAMIS_ERR_READ_ONLY);
    if (tamis_states_copy(states, &copy) != TAMIS_OK) return;
    for (uint64_t id = 0; id < 100; id++) {
        (void)!tamis_states_set_id(copy, id, 1);
        (void)!tamis_states_drop_id(copy, id, TAMIS_ANY_VALUE);
    }
    (void)!tamis_states_tick(copy, 3, NULL, NULL);
    must(tamis_states_validate(copy, NULL));
    tamis_states_free(copy);
}

static void open_and_use(int file) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    tamis_states      *states = NULL;
    tamis_problem      problem;
    options.flags = TAMIS_OPEN_MAP;
    options.max_bytes = 1 << 24;
    if (tamis_open_fd(file, &options, &set, &problem) == TAMIS_OK)
        use_set(set);
    else if (tamis_states_open_fd(file, &options, &states, &problem) == TAMIS_OK)
        use_states(states);
    tamis_free(set);
    tamis_states_free(states);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static int file = -1;
    if (file < 0) file = memfd_create("fuzz", MFD_CLOEXEC);
    if (n == 0 || file < 0) return 0;
    uint8_t *const copy = malloc(n);
    must(copy != NULL);
    memcpy(copy, bytes, n);
    if (bytes[n - 1] % 8 != 0) seal_file(copy, n - 1);
    must(ftruncate(file, 0) == 0 && pwrite(file, copy, n - 1, 0) == (ssize_t)(n - 1));
    open_and_use(file);
    free(copy);
    return 0;
}
