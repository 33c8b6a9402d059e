/* soak_states.c - states that are put, moved, aged and dropped for as long as asked.
 *
 * Every kind of states on every instruction set, beside an exact account of all keys. From time to
 * time the table is written, read back, and used further. Options: see soak.h.
 */
#include "buffer.h"
#include "life.h"
#include "soak.h"

/* Write the table to a file, and continue with the one that is read back. */
static const char *reopen(life *l) {
    buffer             file = { NULL, 0 };
    tamis_states      *back = NULL;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.isa = l->variant->isa;
    MUST(tamis_states_write(l->states, buffer_write, &file) == TAMIS_OK, "not written");
    tamis_problem problem;
    if (tamis_states_read(file.bytes, file.n, &options, &back, &problem) != TAMIS_OK)
        return because("%s", problem.text);
    free(file.bytes);
    tamis_states_free(l->states);
    l->states = back;
    return NULL;
}

static const char *live(const subject *variant, uint64_t operations, uint64_t seed,
                        soak_tally *tally) {
    life        l;
    const char *why = NULL;
    uint64_t    done = 0, part = 0;
    if (!life_begin(&l, variant, 2 * variant->capacity, seed)) return "no table";
    for (; done < operations && why == NULL; part++) {
        uint64_t const n = min_u64(operations - done, 2000000);
        why = life_run(&l, n, part % 4 == 3 ? 0.2 : 0.95);
        if (why == NULL) why = life_census(&l);
        if (why == NULL) why = reopen(&l);
        done += n;
    }
    const answers *const a = &l.answers;
    double *const        f = tally->figures;
    f[SOAK_OPERATIONS] += (double)done;
    f[SOAK_REFUSED] += (double)l.refused;
    f[SOAK_PRESENT] += (double)a->present;
    f[SOAK_UNKNOWN] += (double)a->unknown;
    life_end(&l);
    return why;
}

static bool is_any(const subject *variant) {
    (void)variant;
    return true;
}

int main(int argc, char **argv) {
    static const soak program = {
        "usage: soak_states [--ops N] [--seed N] [--kind NAME] [--journal FILE]\n"
        "Every kind of states, or the one named, each for N operations "
        "(100000000 without --ops).\n",
        states_subjects, is_any, live
    };
    return soak_run(&program, argc, argv);
}
