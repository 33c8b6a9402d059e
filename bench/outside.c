/* outside.c - contestants from outside (outside.h): the files of the option -Dcontestants.
 *
 * They register before main(). Each has a row for its own calls, and one more, NAME-pf, if it has
 * loops that prefetch.
 */
#include "outside.h"

#include "contestant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OUTSIDE 32

/* What the rows point to. It stays when the contestant's own table is made again. */
typedef struct outside_table {
    const outside_contestant *peer;
    void                     *table;
    uint64_t                  n;
    double                    fpr;
    size_t                    ahead;
} outside_table;

/* ------------------------------------------------------------------ the list */

/* Written before main() only. */
static const outside_contestant *registered[MAX_OUTSIDE];
static size_t                    n_registered;

void outside_register(const outside_contestant *peer) {
    if (n_registered < MAX_OUTSIDE) registered[n_registered] = peer;
    n_registered++;
}

const char *outside_key(size_t i) {
    return i < n_registered && i < MAX_OUTSIDE ? registered[i]->name : NULL;
}

static const outside_contestant *find_outside(const char *name) {
    for (size_t i = 0; outside_key(i) != NULL; i++) {
        if (strcmp(outside_key(i), name) == 0) return registered[i];
    }
    return NULL;
}

bool outside_has_key(const char *name) {
    return find_outside(name) != NULL;
}

/* ------------------------------------------------------------------ checks */

/* Was it compiled with this outside.h? If not, its fields cannot be read. */
static bool is_readable(const outside_contestant *peer) {
    return peer->version == OUTSIDE_VERSION && peer->struct_bytes == sizeof *peer;
}

/* Is it a name that --only can take, and that fits into an entry? */
static bool is_fine_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t const      length = name == NULL ? 0 : strlen(name);
    return length > 0 && length < sizeof((bench_entry *)0)->key && strspn(name, letters) == length;
}

static bool is_taken_name(const char *name, size_t n_before) {
    for (size_t i = 0; i < n_before; i++) {
        const outside_contestant *const other = registered[i];
        if (is_readable(other) && other->name != NULL && strcmp(other->name, name) == 0)
            return true;
    }
    return entries_has_own_key(name);
}

/* What is wrong with contestant i, or NULL. */
static const char *find_problem(size_t i) {
    const outside_contestant *const peer = registered[i];
    if (!is_readable(peer))
        return "was compiled with another outside.h, or does not begin with OUTSIDE_HEAD";
    if (!is_fine_name(peer->name))
        return "needs a name of 1 to 23 letters, digits, '_', '.' and '-'";
    if (is_taken_name(peer->name, i)) return "has the name of another contestant";
    if (peer->make == NULL || peer->free == NULL || peer->bytes == NULL)
        return "needs make, free and bytes";
    if (peer->single.add == NULL || peer->single.has == NULL)
        return "needs single.add and single.has";
    if ((peer->ahead.add == NULL) != (peer->ahead.has == NULL))
        return "needs both ahead.add and ahead.has, or neither";
    return NULL;
}

bool outside_check(FILE *out) {
    bool is_fine = n_registered <= MAX_OUTSIDE;
    if (!is_fine) fprintf(out, "tamis-bench: at most %d contestants from outside\n", MAX_OUTSIDE);
    for (size_t i = 0; i < n_registered && i < MAX_OUTSIDE; i++) {
        const char *const problem = find_problem(i);
        if (problem == NULL) continue;
        bool const        has_name = is_readable(registered[i]) && registered[i]->name != NULL;
        const char *const name = has_name ? registered[i]->name : "?";
        fprintf(out, "tamis-bench: contestant %zu from outside ('%s') %s\n", i + 1, name, problem);
        is_fine = false;
    }
    return is_fine;
}

/* ------------------------------------------------------------------ calls */

/* One more call per slice or per batch; the loops over keys are in the contestant's file. */
#define PASS_ON(NAME, CALLS, CALL)                                    \
    static size_t NAME(void *table, const uint64_t *keys, size_t n) { \
        const outside_table *const t = table;                         \
        return t->peer->CALLS.CALL(t->table, keys, n);                \
    }
PASS_ON(outside_add, single, add)
PASS_ON(outside_has, single, has)
PASS_ON(outside_remove, single, remove)
PASS_ON(outside_add_batch, batch, add)
PASS_ON(outside_has_batch, batch, has)
PASS_ON(outside_remove_batch, batch, remove)

#define PASS_ON_AHEAD(NAME, CALL)                                     \
    static size_t NAME(void *table, const uint64_t *keys, size_t n) { \
        const outside_table *const t = table;                         \
        return t->peer->ahead.CALL(t->table, keys, n, t->ahead);      \
    }
PASS_ON_AHEAD(outside_add_ahead, add)
PASS_ON_AHEAD(outside_has_ahead, has)
PASS_ON_AHEAD(outside_remove_ahead, remove)

static size_t outside_churn_pairs(void *table, const uint64_t *keys, size_t n) {
    const outside_table *const t = table;
    return t->peer->single.churn(t->table, keys, keys + n, n);
}

static size_t outside_churn_pairs_ahead(void *table, const uint64_t *keys, size_t n) {
    const outside_table *const t = table;
    return t->peer->ahead.churn(t->table, keys, keys + n, n, t->ahead);
}

static void outside_clear(void *table) {
    outside_table *const            t = table;
    const outside_contestant *const peer = t->peer;
    if (peer->clear != NULL) {
        peer->clear(t->table);
        return;
    }
    peer->free(t->table);
    t->table = peer->make(t->n, t->fpr);
    if (t->table != NULL) return;
    (void)fprintf(stderr, "tamis-bench: %s: make() failed when it was called again\n", peer->name);
    exit(EXIT_FAILURE);
}

static void outside_free(void *table) {
    outside_table *const t = table;
    t->peer->free(t->table);
    free(t);
}

/* ------------------------------------------------------------------ making contestants */

static bench_ops own_ops(const outside_contestant *peer) {
    const outside_singles *const single = &peer->single;
    const outside_batches *const batch = &peer->batch;
    return (bench_ops){
        .call = { { outside_add, outside_has, single->remove != NULL ? outside_remove : NULL,
                    single->churn != NULL ? outside_churn_pairs : NULL },
                  { batch->add != NULL ? outside_add_batch : NULL,
                    batch->has != NULL ? outside_has_batch : NULL,
                    batch->remove != NULL ? outside_remove_batch : NULL, NULL } },
        .clear = outside_clear,
        .free = outside_free,
    };
}

static bench_ops ahead_ops(const outside_contestant *peer) {
    const outside_aheads *const ahead = &peer->ahead;
    return (bench_ops){
        .call = { { outside_add_ahead, outside_has_ahead,
                    ahead->remove != NULL ? outside_remove_ahead : NULL,
                    ahead->churn != NULL ? outside_churn_pairs_ahead : NULL } },
        .clear = outside_clear,
        .free = outside_free,
    };
}

static outside_table *make_outside(const outside_contestant *peer, const bench_options *options,
                                   const bench_entry *entry, uint64_t n) {
    outside_table *const t = malloc(sizeof *t);
    if (t == NULL) return NULL;
    *t = (outside_table){ peer, peer->make(n, entry->fpr), n, entry->fpr, options->ahead };
    if (t->table != NULL) return t;
    free(t);
    return NULL;
}

static contestant *enter_row(bench_lineup *lineup, const bench_options *options,
                             const bench_entry *entry, uint64_t n) {
    const outside_contestant *const peer = find_outside(entry->key);
    contestant *const               entrant = lineup_enter(lineup, entry);
    if (entrant == NULL) return NULL;
    outside_table *const table = make_outside(peer, options, entry, n);
    if (table == NULL) {
        contestant_exclude(entrant, "make() returned NULL: no memory, or it cannot do this size");
        return entrant;
    }
    entrant->table = table;
    entrant->bytes = peer->bytes(table->table);
    entrant->lines = peer->lines;
    entrant->ops = own_ops(peer);
    if (peer->note != NULL) (void)snprintf(entrant->note, sizeof entrant->note, "%s", peer->note);
    return entrant;
}

void enter_outside(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                   uint64_t n) {
    const outside_contestant *const peer = find_outside(entry->key);
    (void)enter_row(lineup, options, entry, n);
    if (peer->ahead.has == NULL) return;
    contestant *const hinted = enter_row(lineup, options, entry, n);
    if (hinted == NULL) return;
    (void)snprintf(hinted->name, sizeof hinted->name, "%s-pf%s", entry->key,
                   entry->text + strlen(entry->key));
    if (hinted->table == NULL) return;
    (void)snprintf(hinted->note, sizeof hinted->note, "its calls with prefetches %zu keys ahead",
                   options->ahead);
    hinted->ops = ahead_ops(peer);
}
