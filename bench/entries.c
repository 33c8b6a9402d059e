/* entries.c - parse the list of --only. */
#include "entries.h"

#include "contestant.h"

#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>

/* The names that the bench knows by itself, i = 0, 1, ...; NULL after the last. */
static const char *own_key(size_t i) {
    static const char *const peers[] = { "libbloom", "rte_member", NULL };
    size_t                   n_kinds = 0;
    while (tamis_kind_name(n_kinds) != NULL) n_kinds++;
    return i < n_kinds ? tamis_kind_name(i) : peers[i - n_kinds];
}

/* The same, and then the names from outside. */
static const char *contestant_key(size_t i) {
    size_t n_own = 0;
    while (own_key(n_own) != NULL) n_own++;
    return i < n_own ? own_key(i) : outside_key(i - n_own);
}

bool entries_has_own_key(const char *name) {
    for (size_t i = 0; own_key(i) != NULL; i++) {
        if (strcmp(own_key(i), name) == 0) return true;
    }
    for (size_t i = 0; tamis_states_kind_name(i) != NULL; i++) {
        if (strcmp(tamis_states_kind_name(i), name) == 0) return true;
    }
    return false;
}

void entries_print_keys(FILE *out) {
    for (size_t i = 0; contestant_key(i) != NULL; i++) {
        fprintf(out, "%s%s", i == 0 ? "" : ",", contestant_key(i));
    }
    fprintf(out, "\n");
}

bool parse_fpr(const char *text, double *ret_fpr) {
    char *rest;
    *ret_fpr = strtod(text, &rest);
    return rest != text && *rest == '\0' && *ret_fpr >= 1e-12 && *ret_fpr <= 0.5;
}

/* ------------------------------------------------------------------ one entry */

static const char *find_isa(const char *word) {
    for (size_t i = 0; tamis_isa_name(i) != NULL; i++) {
        if (strcmp(tamis_isa_name(i), word) == 0) return tamis_isa_name(i);
    }
    return NULL;
}

/* Append a field to the geometry. */
static bool parse_field(bench_entry *entry, const char *word) {
    size_t const at = strlen(entry->geometry), room = sizeof entry->geometry - at;
    int const    n = snprintf(entry->geometry + at, room, "%s%s", at != 0 ? "," : "", word);
    return n > 0 && (size_t)n < room;
}

static bool parse_word(bench_entry *entry, const char *word) {
    if (strchr(word, '=') != NULL) return parse_field(entry, word);
    const struct {
        const char *word;
        bool       *flag;
    } flags[] = { { "small", &entry->is_small },     { "plain", &entry->is_plain },
                  { "remove", &entry->is_removing }, { "count", &entry->is_counting },
                  { "states", &entry->is_states },   { "moves", &entry->is_moving },
                  { "ageing", &entry->is_ageing },   { "fetch", &entry->is_hinted } };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(word, flags[i].word) != 0) continue;
        *flags[i].flag = true;
        return true;
    }
    entry->isa = find_isa(word);
    return entry->isa != NULL || parse_fpr(word, &entry->fpr);
}

/* Copy the next part, up to one of `ends`. False: it is empty or too long. */
static bool next_part(const char **text, const char *ends, char *ret_part, size_t bytes) {
    size_t const length = strcspn(*text, ends);
    if (length == 0 || length >= bytes) return false;
    memcpy(ret_part, *text, length);
    ret_part[length] = '\0';
    *text += length;
    return true;
}

static bool parse_entry(bench_entry *ret_entry) {
    const char *text = ret_entry->text;
    char        word[sizeof ret_entry->text];
    if (!next_part(&text, ":", ret_entry->key, sizeof ret_entry->key)) return false;
    if (!entries_has_own_key(ret_entry->key) && !outside_has_key(ret_entry->key)) return false;
    while (*text++ == ':') {
        if (!next_part(&text, ":", word, sizeof word) || !parse_word(ret_entry, word)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ all entries */

bool entries_parse(bench_entries *entries, const char *text) {
    entries->n = 0;
    do {
        bench_entry entry = { .fpr = 0 };
        if (!next_part(&text, ",", entry.text, sizeof entry.text)) return false;
        if (!parse_entry(&entry) || entries->n == MAX_NAMED) return false;
        entries->list[entries->n++] = entry;
    } while (*text++ == ',');
    return true;
}

bool entry_has_states(const bench_entry *entry) {
    return entry->is_states || entry->is_moving;
}

const bench_entry *entries_find_ageing_set(const bench_entries *entries) {
    for (size_t i = 0; i < entries->n; i++) {
        const bench_entry *const entry = &entries->list[i];
        if (entry->is_ageing && !entry_has_states(entry)) return entry;
    }
    return NULL;
}

static bool is_kind_of_sets(const char *key) {
    for (size_t i = 0; tamis_kind_name(i) != NULL; i++) {
        if (strcmp(tamis_kind_name(i), key) == 0) return true;
    }
    return false;
}

const bench_entry *entries_find_wrong_hint(const bench_entries *entries) {
    for (size_t i = 0; i < entries->n; i++) {
        const bench_entry *const entry = &entries->list[i];
        bool const               is_set = is_kind_of_sets(entry->key) && !entry_has_states(entry);
        if (entry->is_hinted && !is_set) return entry;
    }
    return NULL;
}

static void add_all_entries(bench_entries *entries) {
    for (size_t i = 0; contestant_key(i) != NULL && entries->n < MAX_NAMED; i++) {
        bench_entry *const entry = &entries->list[entries->n++];
        *entry = (bench_entry){ .fpr = 0 };
        (void)snprintf(entry->key, sizeof entry->key, "%s", contestant_key(i));
        (void)snprintf(entry->text, sizeof entry->text, "%s", contestant_key(i));
    }
}

void entries_complete(bench_entries *entries, double fpr, bool is_removing) {
    if (entries->n == 0) add_all_entries(entries);
    for (size_t i = 0; i < entries->n; i++) {
        bench_entry *const entry = &entries->list[i];
        if (entry->fpr == 0) entry->fpr = fpr;
        entry->is_removing |= is_removing && !entry->is_plain;
    }
}

const bench_entry *entries_find(const bench_entries *entries, const char *text) {
    const bench_entry *found = NULL;
    for (size_t i = 0; i < entries->n; i++) {
        const bench_entry *const entry = &entries->list[i];
        if (strcmp(entry->text, text) == 0) return entry;
        if (found == NULL && strcmp(entry->key, text) == 0) found = entry;
    }
    return found;
}
