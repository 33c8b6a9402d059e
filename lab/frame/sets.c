/* sets.c - see sets.h. */
#include "sets.h"

#include "lab.h"

#include <string.h>

#define BATCH 256

tamis_set *sets_make(const tamis_spec *spec, lab_random *random) {
    tamis_seed const seed = { lab_random_next(random), lab_random_next(random) };
    tamis_spec       seeded = *spec;
    tamis_problem    problem;
    tamis_set       *set;
    seeded.seed = &seed;
    if (tamis_create(&seeded, &set, &problem) != TAMIS_OK) {
        lab_die("a set of kind %s: %s", spec->kind, problem.text);
    }
    return set;
}

bool sets_have(const char *kind) {
    size_t i = 0;
    while (tamis_kind_name(i) != NULL && strcmp(tamis_kind_name(i), kind) != 0) i++;
    return tamis_kind_name(i) != NULL;
}

/* A batch of consecutive keys, in the form that the library takes. */
typedef struct key_batch {
    uint8_t   bytes[BATCH][KEY_BYTES];
    tamis_key keys[BATCH];
    size_t    n;
} key_batch;

static void batch_write(key_batch *batch, const key_source *keys, uint64_t first, uint64_t n) {
    batch->n = (size_t)min_u64(n, BATCH);
    for (size_t i = 0; i < batch->n; i++) {
        key_write(keys, first + i, batch->bytes[i]);
        batch->keys[i] = (tamis_key){ batch->bytes[i], KEY_BYTES };
    }
}

void sets_fill(tamis_set *set, const key_source *keys, uint64_t first, uint64_t n) {
    key_batch batch;
    for (uint64_t done = 0; done < n; done += batch.n) {
        batch_write(&batch, keys, first + done, n - done);
        tamis_status const status = tamis_add_batch(set, batch.keys, batch.n, NULL);
        if (status != TAMIS_OK) lab_die("an add was refused: %s", tamis_status_text(status));
    }
}

uint64_t sets_count(const tamis_set *set, const key_source *keys, uint64_t first, uint64_t n) {
    key_batch batch;
    uint64_t  present = 0;
    for (uint64_t done = 0; done < n; done += batch.n) {
        batch_write(&batch, keys, first + done, n - done);
        present += tamis_has_batch(set, batch.keys, batch.n, NULL);
    }
    return present;
}
