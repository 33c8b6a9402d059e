/* sets_of_all_kinds.c - prints a checksum of the bytes of a set of every kind, on the best
 * instruction set and on the portable one. All builds must print the same. */
#include <tamis.h>

#include <stdio.h>

static bool add_up(void *context, const void *bytes, size_t n) {
    uint64_t *const sum = context;
    for (size_t i = 0; i < n; i++)
        *sum = (*sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    return true;
}

/* Add, remove and ask; false if the set could not be made. */
static bool print_set(const char *kind, const char *isa) {
    tamis_seed const seed = { 1, 2 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    tamis_set       *set;
    uint64_t         sum = 0xcbf29ce484222325, has = 0;
    spec.capacity = 5000;
    spec.fpr = 0.01;
    spec.kind = kind;
    spec.isa = isa;
    spec.seed = &seed;
    if (tamis_create(&spec, &set, NULL) != TAMIS_OK) return false;
    bool is_good = true;
    for (uint64_t id = 0; id < 5000; id++) is_good = is_good && tamis_add_id(set, id) == TAMIS_OK;
    for (uint64_t id = 0; id < 1000; id++) {
        tamis_status const status = tamis_remove_id(set, id);
        is_good = is_good && (status == TAMIS_OK || status == TAMIS_ERR_CANNOT);
    }
    for (uint64_t id = 0; id < 100000; id++) has += tamis_has_id(set, id);
    is_good = is_good && tamis_write(set, add_up, &sum) == TAMIS_OK;
    printf("%s %d %llu %016llx\n", kind, is_good, (unsigned long long)has, (unsigned long long)sum);
    tamis_free(set);
    return is_good;
}

int main(void) {
    for (size_t i = 0; tamis_kind_name(i) != NULL; i++) {
        if (!print_set(tamis_kind_name(i), NULL) || !print_set(tamis_kind_name(i), "portable"))
            return 1;
    }
    printf("%s\n", tamis_version());
    return 0;
}
