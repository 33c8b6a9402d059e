/* compare.c - the same words in every kind of set and in an exact one: size, error, and what each
 * can do. The last part of `make demo`.
 *
 * usage: tamis-demo-compare WORDS     a file of lines, all different
 *
 * Every second line goes into the sets, the others are asked for: a yes to one of those is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>

#define FPR 0.001
#define BAR_CELLS 30

typedef struct words {
    char      *text;
    tamis_key *keys; /* the members first, then the others */
    size_t     n, n_members;
    uint64_t   member_bytes;
} words;

/* ------------------------------------------------------------------ the words */

static char *read_all(const char *path, size_t *ret_bytes) {
    FILE *const file = fopen(path, "rb");
    char       *text = NULL;
    size_t      n = 0, got = 0;
    if (file == NULL) return NULL;
    do {
        n += got;
        char *const more = realloc(text, n + 65536);
        if (more == NULL) break;
        text = more;
        got = fread(text + n, 1, 65536, file);
    } while (got != 0);
    (void)fclose(file);
    *ret_bytes = n;
    return text;
}

static bool words_read(const char *path, words *ret_words) {
    size_t      bytes = 0, n = 0;
    char *const text = read_all(path, &bytes);
    if (text == NULL || bytes == 0) return false;
    for (size_t i = 0; i < bytes; i++) n += text[i] == '\n';
    words w = { .text = text, .keys = calloc(n, sizeof(tamis_key)), .n = n, .n_members = n / 2 };
    if (w.keys == NULL || w.n_members == 0) return false;
    const char *line = text;
    for (size_t i = 0; i < n; i++) {
        const char *const end = memchr(line, '\n', bytes - (size_t)(line - text));
        size_t const      at = i % 2 == 1 ? i / 2 : w.n_members + i / 2;
        w.keys[at] = (tamis_key){ line, (size_t)(end - line) };
        if (at < w.n_members) w.member_bytes += w.keys[at].bytes;
        line = end + 1;
    }
    *ret_words = w;
    return true;
}

/* ------------------------------------------------------------------ one row */

typedef struct row {
    char     name[32];
    uint64_t bytes;
    unsigned abilities;
    size_t   errors;
} row;

/* ------------------------------------------------------------------ the exact one */

/* A hash table of pointers to the words, at most half full, and the words themselves: about the
 * least that keeps them and finds one at once. */
typedef struct exact_set {
    const tamis_key **slots;
    size_t            n_slots; /* a power of two */
} exact_set;

static size_t exact_hash(const tamis_key *key) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < key->bytes; i++) {
        hash = (hash ^ ((const unsigned char *)key->data)[i]) * UINT64_C(0x100000001b3);
    }
    return (size_t)(hash ^ (hash >> 32));
}

/* The slot of the key, or the empty one where it would go. */
static const tamis_key **exact_find(const exact_set *set, const tamis_key *key) {
    for (size_t at = exact_hash(key);; at++) {
        const tamis_key **const slot = &set->slots[at & (set->n_slots - 1)];
        const tamis_key *const  there = *slot;
        if (there == NULL) return slot;
        if (there->bytes == key->bytes && memcmp(there->data, key->data, key->bytes) == 0) {
            return slot;
        }
    }
}

static bool exact_row(const words *w, row *ret_row) {
    exact_set set = { .n_slots = 1 };
    while (set.n_slots < 2 * w->n_members) set.n_slots *= 2;
    set.slots = calloc(set.n_slots, sizeof set.slots[0]);
    if (set.slots == NULL) return false;
    for (size_t i = 0; i < w->n_members; i++) *exact_find(&set, &w->keys[i]) = &w->keys[i];
    row r = { .bytes = set.n_slots * sizeof(char *) + w->member_bytes + w->n_members,
              .abilities = TAMIS_CAN_REMOVE };
    for (size_t i = w->n_members; i < w->n; i++) r.errors += *exact_find(&set, &w->keys[i]) != NULL;
    free(set.slots);
    (void)snprintf(r.name, sizeof r.name, "exact hash set");
    *ret_row = r;
    return true;
}

/* ------------------------------------------------------------------ ours */

static bool kind_row(const char *kind, const words *w, row *ret_row) {
    tamis_seed const seed = { 1, 2 }; /* the same demo every time */
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.capacity = w->n_members;
    spec.fpr = FPR;
    spec.kind = kind;
    spec.seed = &seed;
    tamis_set *set = NULL;
    tamis_info info;
    if (tamis_create(&spec, &set, NULL) != TAMIS_OK) return false;
    bool const   is_filled = tamis_add_batch(set, w->keys, w->n_members, NULL) == TAMIS_OK;
    size_t const found = tamis_has_batch(set, w->keys, w->n_members, NULL);
    size_t const n_others = w->n - w->n_members;
    row          r = { .errors = tamis_has_batch(set, w->keys + w->n_members, n_others, NULL) };
    bool const   is_told = tamis_inspect(set, &info) == TAMIS_OK;
    tamis_free(set);
    if (!is_filled || !is_told || found != w->n_members) return false;
    (void)snprintf(r.name, sizeof r.name, "%s", kind);
    r.bytes = info.plan.body_bytes;
    r.abilities = info.plan.abilities;
    *ret_row = r;
    return true;
}

/* ------------------------------------------------------------------ the table */

static void print_bar(uint64_t bytes, uint64_t most) {
    uint64_t const           eighths = (bytes * BAR_CELLS * 8 + most - 1) / most;
    static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    for (uint64_t i = 0; i < eighths / 8; i++) (void)fputs("█", stdout);
    (void)printf("%s\n", parts[eighths % 8]);
}

static void print_row(const row *r, const words *w, uint64_t most) {
    size_t const n_others = w->n - w->n_members;
    char         error[40];
    (void)snprintf(error, sizeof error, "%zu = %.3f%%", r->errors,
                   100.0 * (double)r->errors / (double)n_others);
    (void)printf("  %-15s %9.1f %9.1f   %-7s %-15s ", r->name, (double)r->bytes / 1024,
                 8.0 * (double)r->bytes / (double)w->n_members,
                 (r->abilities & TAMIS_CAN_REMOVE) != 0 ? "yes" : "no", error);
    print_bar(r->bytes, most);
}

int main(int argc, char **argv) {
    words w;
    if (argc != 2 || !words_read(argv[1], &w)) {
        (void)fprintf(stderr, "usage: tamis-demo-compare WORDS (a file of lines)\n");
        return 2;
    }
    row      rows[64];
    size_t   n = 0;
    uint64_t most = 0;
    if (!exact_row(&w, &rows[n++])) return 1;
    for (size_t i = 0; tamis_kind_name(i) != NULL && n < 64; i++) {
        if (!kind_row(tamis_kind_name(i), &w, &rows[n++])) return 1;
    }
    for (size_t i = 0; i < n; i++) most = rows[i].bytes > most ? rows[i].bytes : most;
    (void)printf("  %zu words in the set, %zu others asked for, an error of %.1f%% allowed\n\n",
                 w.n_members, w.n - w.n_members, 100 * FPR);
    (void)printf("  %-15s %9s %9s   %-7s %-15s %s\n", "", "KiB", "bits/word", "forgets",
                 "wrong yes", "size");
    for (size_t i = 0; i < n; i++) print_row(&rows[i], &w, most);
    free(w.keys);
    free(w.text);
    return 0;
}
