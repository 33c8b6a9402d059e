/* compare.c - the parts of `make demo` that need a program of their own.
 *
 * usage: tamis-demo-compare WORDS         the same words in every kind of set and in an exact one
 *        tamis-demo-compare WORDS FILE    a set in memory, and the same set saved and mapped
 *
 * WORDS is a file of lines, all different. Every second word is added to the sets, and the others
 * are asked for: each yes to one of those is a false positive.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>
#include <time.h>

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
    double   fpr; /* predicted by its own analysis */
} row;

/* ------------------------------------------------------------------ the exact set */

/* A hash table of pointers to the words, at most half full, and the words themselves: about the
 * least memory in which an exact set finds a word with one or two probes. */
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

/* The slot of the key, or the empty slot where it would be stored. */
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

/* ------------------------------------------------------------------ our sets */

/* Make a set with all members in it; NULL if that fails, or if it misses one of them. */
static tamis_set *make_set(const char *kind, unsigned abilities, const words *w) {
    tamis_seed const seed = { 1, 2 }; /* the same demo every time */
    tamis_spec       spec = TAMIS_SPEC_INIT;
    spec.capacity = w->n_members;
    spec.fpr = FPR;
    spec.kind = kind;
    spec.abilities = abilities;
    spec.seed = &seed;
    tamis_set *set = NULL;
    if (tamis_create(&spec, &set, NULL) != TAMIS_OK) return NULL;
    bool const is_filled = tamis_add_batch(set, w->keys, w->n_members, NULL) == TAMIS_OK;
    if (is_filled && tamis_has_batch(set, w->keys, w->n_members, NULL) == w->n_members) return set;
    tamis_free(set);
    return NULL;
}

static bool kind_row(const char *kind, const words *w, row *ret_row) {
    tamis_set *set = make_set(kind, TAMIS_CAN_REMOVE, w);
    tamis_info info;
    if (set == NULL) set = make_set(kind, 0, w); /* kinds that cannot remove are shown, too */
    if (set == NULL) return false;
    size_t const n_others = w->n - w->n_members;
    row          r = { .errors = tamis_has_batch(set, w->keys + w->n_members, n_others, NULL) };
    bool const   is_told = tamis_inspect(set, &info) == TAMIS_OK;
    tamis_free(set);
    if (!is_told) return false;
    (void)snprintf(r.name, sizeof r.name, "%s", kind);
    r.bytes = info.plan.body_bytes;
    r.abilities = info.plan.abilities;
    r.fpr = info.plan.fpr;
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

/* "52 ± 7". If each of n words is a false positive with probability p, their number is binomial: it
 * has mean n p and standard deviation sqrt(n p (1 - p)). */
static void name_expected(const words *w, double fpr, char *ret_text, size_t n) {
    double const expected = fpr * (double)(w->n - w->n_members);
    (void)snprintf(ret_text, n, "%.0f ± %.0f", expected, sqrt(expected * (1 - fpr)));
}

static void print_row(const row *r, const words *w, uint64_t most) {
    char range[40] = "none";
    if (r->fpr > 0) name_expected(w, r->fpr, range, sizeof range);
    int const width = 12 + (r->fpr > 0); /* the sign ± is two bytes and one column */
    (void)printf("   %-16s %8.1f %11.1f    %-8s %9zu   %-*s ", r->name, (double)r->bytes / 1024,
                 8.0 * (double)r->bytes / (double)w->n_members,
                 (r->abilities & TAMIS_CAN_REMOVE) != 0 ? "yes" : "no", r->errors, width, range);
    print_bar(r->bytes, most);
}

static void print_table(const row *rows, size_t n, const words *w) {
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) most = rows[i].bytes > most ? rows[i].bytes : most;
    (void)printf(
        "   %zu words in the set, %zu others asked for; at most one wrong yes in %.0f.\n\n",
        w->n_members, w->n - w->n_members, 1 / FPR);
    (void)printf("   %-16s %8s %11s    %-8s %9s   %-12s %s\n\n", "", "KiB", "bits/word", "removes",
                 "wrong yes", "expected", "size");
    for (size_t i = 0; i < n; i++) print_row(&rows[i], w, most);
    (void)printf("\n   ± is one standard deviation: two counts in three lie within it.\n");
}

/* Kinds that cannot do it are left out. */
static int compare_kinds(const words *w) {
    row    rows[64];
    size_t n = 0;
    if (!exact_row(w, &rows[n++])) return 1;
    for (size_t i = 0; tamis_kind_name(i) != NULL && n < 64; i++) {
        if (kind_row(tamis_kind_name(i), w, &rows[n])) n++;
    }
    print_table(rows, n, w);
    return 0;
}

/* ------------------------------------------------------------------ saved, and mapped again */

static double now_ms(void) {
    struct timespec time;
    (void)timespec_get(&time, TIME_UTC);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

/* For how many words the two sets give different answers; *ret_yes: how many the first one has. */
static size_t count_differences(const tamis_set *a, const tamis_set *b, const words *w,
                                size_t *ret_yes) {
    size_t yes = 0, different = 0;
    for (size_t i = 0; i < w->n; i++) {
        bool const answer = tamis_has(a, w->keys[i].data, w->keys[i].bytes);
        yes += answer;
        different += answer != tamis_has(b, w->keys[i].data, w->keys[i].bytes);
    }
    *ret_yes = yes;
    return different;
}

/* Compare the two sets. Returns whether the second is mapped and gives the same answers. */
static bool print_mapped(const tamis_set *set, const tamis_set *mapped, const char *path,
                         double milliseconds, const words *w) {
    tamis_info   info;
    size_t       yes;
    char         range[40];
    size_t const different = count_differences(set, mapped, w, &yes);
    if (tamis_inspect(mapped, &info) != TAMIS_OK) return false;
    name_expected(w, info.plan.fpr, range, sizeof range);
    (void)printf("   in memory   a set of %zu words, kind %s, %llu bytes\n", w->n_members,
                 info.plan.kind, (unsigned long long)info.plan.body_bytes);
    (void)printf("   saved       %s, %llu bytes: the same bytes, a header and checksums\n", path,
                 (unsigned long long)info.plan.file_bytes);
    (void)printf("   mapped      %s, all checksums verified, in %.1f ms; nothing was copied\n",
                 info.facts.is_mapped ? "read-only" : "NOT MAPPED", milliseconds);
    (void)printf("   asked both  %zu words: %zu times yes, %zu of them wrong (%s expected)\n", w->n,
                 yes, yes - w->n_members, range);
    (void)printf("               %zu different answers\n", different);
    return info.facts.is_mapped && different == 0;
}

static int compare_mapped(const words *w, const char *path) {
    tamis_open_options how = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set *const   set = make_set(NULL, TAMIS_CAN_REMOVE, w);
    tamis_set         *mapped = NULL;
    tamis_problem      problem = { .text = "cannot make the set" };
    how.flags = TAMIS_OPEN_MAP;
    bool         is_done = set != NULL && tamis_save(set, path, &problem) == TAMIS_OK;
    double const began = now_ms();
    is_done = is_done && tamis_open(path, &how, &mapped, &problem) == TAMIS_OK;
    if (!is_done) (void)fprintf(stderr, "tamis-demo-compare: %s\n", problem.text);
    is_done = is_done && print_mapped(set, mapped, path, now_ms() - began, w);
    tamis_free(mapped);
    tamis_free(set);
    return is_done ? 0 : 1;
}

int main(int argc, char **argv) {
    words w;
    if (argc < 2 || argc > 3 || !words_read(argv[1], &w)) {
        (void)fprintf(stderr, "usage: tamis-demo-compare WORDS [FILE] (WORDS: a file of lines)\n");
        return 2;
    }
    int const code = argc == 3 ? compare_mapped(&w, argv[2]) : compare_kinds(&w);
    free(w.keys);
    free(w.text);
    return code;
}
