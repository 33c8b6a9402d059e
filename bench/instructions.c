/* instructions.c - do an operation on some keys, so that bench/instructions can count its cost.
 *
 * usage: instructions FILE make KEYS [CAPACITY]                       a `line` with this many keys
 *        instructions FILE has|lacks|add|remove|churn single|batch KEYS ISA
 *
 * The set comes from a file, since planning takes more instructions than everything else here. A
 * run with 0 keys gives the cost of the rest of the program.
 */
#include <tamis/tamis.h>

#include <stdlib.h>
#include <string.h>

#define CAPACITY 2000
#define MOST 10000 /* keys of an operation */
#define BATCH 256  /* of churn; other operations take all keys at once */

static uint64_t present[MOST], absent[MOST];

/* Ids from 0 on. */
static tamis_status fill(tamis_set *set, size_t keys) {
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < keys && status == TAMIS_OK; i++) status = tamis_add_id(set, i);
    return status;
}

/* 0.0028: remainders of 8 bits, lines without rests. */
static tamis_status make(const char *file, size_t keys, size_t capacity) {
    static const tamis_seed seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    tamis_set              *set;
    spec.capacity = capacity;
    spec.fpr = 0.0028;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.kind = "line";
    spec.seed = &seed;
    tamis_status status = tamis_create(&spec, &set, NULL);
    if (status == TAMIS_OK) status = fill(set, keys);
    if (status == TAMIS_OK) status = tamis_save(set, file, NULL);
    tamis_free(set);
    return status;
}

static tamis_status do_batch(tamis_set *set, const char *action, const uint64_t *keys, size_t n) {
    static bool   answers[MOST];
    size_t        added;
    tamis_removal removal;
    if (strcmp(action, "add") == 0) return tamis_add_id_batch(set, keys, n, &added);
    if (strcmp(action, "remove") == 0)
        return tamis_remove_id_batch(set, keys, n, answers, &removal);
    (void)tamis_has_id_batch(set, keys, n, answers);
    return TAMIS_OK;
}

static tamis_status do_each(tamis_set *set, const char *action, const uint64_t *keys, size_t n) {
    bool const   is_add = strcmp(action, "add") == 0, is_remove = strcmp(action, "remove") == 0;
    tamis_status status = TAMIS_OK;
    size_t       found = 0;
    for (size_t i = 0; i < n && is_add; i++) status |= tamis_add_id(set, keys[i]);
    for (size_t i = 0; i < n && is_remove; i++) status |= tamis_remove_id(set, keys[i]);
    for (size_t i = 0; i < n && !is_add && !is_remove; i++) found += tamis_has_id(set, keys[i]);
    return found <= n ? status : TAMIS_ERR_ARGUMENT;
}

/* Remove keys that are present and add as many others. */
static tamis_status churn_each(tamis_set *set, size_t n) {
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < n; i++) {
        status |= tamis_remove_id(set, present[i]);
        status |= tamis_add_id(set, absent[i]);
    }
    return status;
}

static tamis_status churn_batches(tamis_set *set, size_t n) {
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < n; i += BATCH) {
        size_t const few = n - i < BATCH ? n - i : BATCH;
        status |= do_batch(set, "remove", present + i, few);
        status |= do_batch(set, "add", absent + i, few);
    }
    return status;
}

static tamis_status act(tamis_set *set, const char *action, bool is_batch, size_t n) {
    if (strcmp(action, "churn") == 0) return (is_batch ? churn_batches : churn_each)(set, n);
    bool const is_present = strcmp(action, "has") == 0 || strcmp(action, "remove") == 0;
    return (is_batch ? do_batch : do_each)(set, action, is_present ? present : absent, n);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < MOST; i++) present[i] = i, absent[i] = (UINT64_C(1) << 40) + i;
    if (argc == 4 || argc == 5)
        return make(argv[1], strtoul(argv[3], NULL, 10),
                    argc == 5 ? strtoul(argv[4], NULL, 10) : CAPACITY) != TAMIS_OK;
    if (argc != 6) return 2;
    size_t const       n = strtoul(argv[4], NULL, 10);
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set;
    options.isa = argv[5];
    options.flags = TAMIS_OPEN_TRUST;
    if (n > MOST || tamis_open(argv[1], &options, &set, NULL) != TAMIS_OK) return 1;
    tamis_status const status = act(set, argv[2], strcmp(argv[3], "batch") == 0, n);
    tamis_free(set);
    return status != TAMIS_OK;
}
