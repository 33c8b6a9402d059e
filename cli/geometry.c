/* geometry.c - see geometry.h. */
#include "geometry.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "suggest.h"

/* "bloom, counting, ...", as far as it fits. */
static void list_kinds(name_at *kind_name, char *ret_text, size_t n) {
    size_t at = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; kind_name(i) != NULL && at < n; i++) {
        at += (size_t)snprintf(ret_text + at, n - at, "%s%s", i ? ", " : "", kind_name(i));
    }
}

void kind_check(const char *kind, bool is_of_states) {
    name_at *const    kind_name = is_of_states ? tamis_states_kind_name : tamis_kind_name;
    const char *const noun = is_of_states ? "kind of states" : "kind";
    char              kinds[400];
    for (size_t i = 0; kind_name(i) != NULL; i++) {
        if (strcmp(kind_name(i), kind) == 0) return;
    }
    const char *const meant = suggest(kind, kind_name);
    if (meant != NULL) die("unknown %s '%s'; did you mean '%s'?", noun, kind, meant);
    list_kinds(kind_name, kinds, sizeof kinds);
    die("unknown %s '%s'; this build has: %s", noun, kind, kinds);
}

/* ------------------------------------------------------------------ the text */

typedef struct given_field {
    char     name[32];
    char     number[24]; /* as it was written */
    uint64_t value;
} given_field;

typedef struct given_fields {
    given_field list[TAMIS_MAX_FIELDS];
    unsigned    n;
} given_fields;

static bool is_between(char c) {
    return c == ',' || c == ' ';
}

/* Copy at most n - 1 of the bytes of `text` that are `accepted`; returns how many there are. */
static size_t take_bytes(const char *text, const char *accepted, char *ret_text, size_t n) {
    size_t const length = strspn(text, accepted);
    (void)snprintf(ret_text, n, "%.*s", (int)(length < n ? length : n - 1), text);
    return length;
}

/* Read "name=number"; returns the rest of the text, or NULL. */
static const char *read_field(const char *text, given_field *ret_field) {
    size_t const name = take_bytes(text, "abcdefghijklmnopqrstuvwxyz0123456789_", ret_field->name,
                                   sizeof ret_field->name);
    if (name == 0 || name >= sizeof ret_field->name || text[name] != '=') return NULL;
    const char *const digits = text + name + 1;
    size_t const n = take_bytes(digits, "0123456789", ret_field->number, sizeof ret_field->number);
    if (n == 0 || n >= sizeof ret_field->number) return NULL;
    errno = 0;
    ret_field->value =
        strtoull(digits, NULL, 10); /* ERANGE gives the largest, which is too large */
    return digits[n] == '\0' || is_between(digits[n]) ? digits + n : NULL;
}

/* False if it is not a list of FIELD=NUMBER, at least one. */
static bool read_fields(const char *text, given_fields *ret_fields) {
    ret_fields->n = 0;
    while (text != NULL && *text != '\0') {
        if (is_between(*text)) {
            text++;
        } else {
            if (ret_fields->n == TAMIS_MAX_FIELDS) return false;
            text = read_field(text, &ret_fields->list[ret_fields->n++]);
        }
    }
    return text != NULL && ret_fields->n != 0;
}

/* The field that is given a second time, or NULL. */
static const char *find_twice(const given_fields *given) {
    for (unsigned i = 0; i < given->n; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (strcmp(given->list[i].name, given->list[j].name) == 0) return given->list[i].name;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------ the kind */

typedef struct kind_fields {
    tamis_field_range list[TAMIS_MAX_FIELDS];
    size_t            n;
} kind_fields;

static void fields_of_kind(const char *kind, kind_fields *ret_fields) {
    if (tamis_kind_fields(kind, ret_fields->list, &ret_fields->n) != TAMIS_OK) ret_fields->n = 0;
}

static const tamis_field_range *field_find(const kind_fields *fields, const char *name) {
    for (size_t i = 0; i < fields->n; i++) {
        if (strcmp(fields->list[i].name, name) == 0) return &fields->list[i];
    }
    return NULL;
}

/* "bits, hashes": append the names that are not in the text yet. */
static void list_fields(const kind_fields *fields, char *text, size_t n) {
    for (size_t i = 0; i < fields->n; i++) {
        const char *const name = fields->list[i].name, *const there = strstr(text, name);
        char const after = there != NULL ? there[strlen(name)] : '?';
        if (after == ',' || after == '\0') continue;
        size_t const at = strlen(text);
        (void)snprintf(text + at, n - at, "%s%s", at != 0 ? ", " : "", name);
    }
}

/* ------------------------------------------------------------------ what is wrong */

/* List the names that the kind has, if there is room for them. */
static void complain_of_name(const kind_fields *fields, const char *name, char *ret_text,
                             size_t n) {
    char      names[400] = "";
    int const length = snprintf(ret_text, n, "has no field '%s'", name);
    list_fields(fields, names, sizeof names);
    if (length < 0 || (size_t)length + strlen(names) + 12 > n) return;
    (void)snprintf(ret_text + length, n - (size_t)length, " (it has %s)", names);
}

static void complain_of_value(const tamis_field_range *range, const given_field *given,
                              char *ret_text, size_t n) {
    bool const is_small = given->value < range->least;
    (void)snprintf(ret_text, n, "takes %s of at %s %llu, not %s", given->name,
                   is_small ? "least" : "most",
                   (unsigned long long)(is_small ? range->least : range->most), given->number);
}

typedef enum complaint { NO_COMPLAINT, UNKNOWN_FIELD, WRONG_VALUE } complaint;

static complaint complain(const char *kind, const given_fields *given, char *ret_text, size_t n) {
    kind_fields fields;
    fields_of_kind(kind, &fields);
    for (unsigned i = 0; i < given->n; i++) {
        const given_field *const       field = &given->list[i];
        const tamis_field_range *const range = field_find(&fields, field->name);
        if (range == NULL) {
            complain_of_name(&fields, field->name, ret_text, n);
            return UNKNOWN_FIELD;
        }
        if (field->value < range->least || field->value > range->most) {
            complain_of_value(range, field, ret_text, n);
            return WRONG_VALUE;
        }
    }
    return NO_COMPLAINT;
}

bool geometry_complain(const char *kind, const char *geometry, char *ret_text, size_t n) {
    given_fields given;
    return geometry != NULL && read_fields(geometry, &given) &&
           complain(kind, &given, ret_text, n) != NO_COMPLAINT;
}

/* ------------------------------------------------------------------ the option */

static _Noreturn void die_of_text(const char *geometry, const char *kind) {
    kind_fields fields;
    char        names[400] = "";
    fields_of_kind(kind, &fields);
    list_fields(&fields, names, sizeof names);
    die("--geometry '%s': write FIELD=NUMBER, separated by commas; %s has %s", geometry, kind,
        names);
}

/* No kind is named, and none has all of the fields: is there one that none has? */
static _Noreturn void die_of_fields(const char *geometry, const given_fields *given,
                                    kind_lister *kinds) {
    char names[600] = "";
    for (unsigned i = 0; i < given->n; i++) {
        bool is_known = false;
        for (size_t k = 0; kinds(k) != NULL; k++) {
            kind_fields fields;
            fields_of_kind(kinds(k), &fields);
            is_known = is_known || field_find(&fields, given->list[i].name) != NULL;
            list_fields(&fields, names, sizeof names);
        }
        if (!is_known) {
            die("--geometry '%s': no kind has a field '%s'; there are %s", geometry,
                given->list[i].name, names);
        }
    }
    die("--geometry '%s': no kind has all of these fields; name one with --kind to see its fields",
        geometry);
}

/* Returns if some kind takes the fields. A kind that has them but not these numbers has the best
 * complaint. */
static void check_all_kinds(const char *geometry, const given_fields *given, kind_lister *kinds) {
    const char *best_kind = NULL;
    char        why[500], best[500];
    for (size_t k = 0; kinds(k) != NULL; k++) {
        complaint const found = complain(kinds(k), given, why, sizeof why);
        if (found == NO_COMPLAINT) return;
        if (found != WRONG_VALUE || best_kind != NULL) continue;
        best_kind = kinds(k);
        memcpy(best, why, sizeof best);
    }
    if (best_kind != NULL) die("--geometry '%s': kind %s %s", geometry, best_kind, best);
    die_of_fields(geometry, given, kinds);
}

void geometry_check(const char *geometry, const char *kind, kind_lister *kinds) {
    given_fields given;
    char         why[500];
    if (!read_fields(geometry, &given)) die_of_text(geometry, kind != NULL ? kind : kinds(0));
    const char *const twice = find_twice(&given);
    if (twice != NULL) die("--geometry '%s': %s is given twice", geometry, twice);
    if (kind == NULL)
        check_all_kinds(geometry, &given, kinds);
    else if (complain(kind, &given, why, sizeof why) != NO_COMPLAINT)
        die("--geometry '%s': kind %s %s", geometry, kind, why);
}
