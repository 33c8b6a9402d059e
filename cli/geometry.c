/* geometry.c - see geometry.h.
 *
 * The library says only whether a kind takes a geometry. Which field it is, and where its limits
 * are, is found by asking again with one field at a time.
 */
#include "geometry.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

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

/* Read "name=number"; returns what follows, or NULL. */
static const char *read_field(const char *text, given_field *ret_field) {
    size_t const name = take_bytes(text, "abcdefghijklmnopqrstuvwxyz0123456789_", ret_field->name,
                                   sizeof ret_field->name);
    if (name == 0 || name >= sizeof ret_field->name || text[name] != '=') return NULL;
    const char *const digits = text + name + 1;
    size_t const n = take_bytes(digits, "0123456789", ret_field->number, sizeof ret_field->number);
    if (n == 0 || n >= sizeof ret_field->number) return NULL;
    errno = 0;
    ret_field->value = strtoull(digits, NULL, 10);
    if (errno == ERANGE || ret_field->value == UINT64_MAX) ret_field->value = UINT64_MAX - 1;
    return digits[n] == '\0' || is_between(digits[n]) ? digits + n : NULL;
}

/* False when it is not a list of FIELD=NUMBER, at least one. */
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

/* A plan of the kind, of which the names and usual values of the fields are wanted. */
static bool plan_usual(const char *kind, tamis_plan *ret_plan) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    size_t     n;
    spec.kind = kind;
    spec.capacity = 100000;
    spec.fpr = 0.01;
    return tamis_plan_kinds(&spec, ret_plan, 1, &n, NULL) == TAMIS_OK &&
           ret_plan->status == TAMIS_OK;
}

static const tamis_field *field_of(const tamis_plan *plan, const char *name) {
    for (unsigned i = 0; i < plan->n_fields; i++) {
        if (strcmp(plan->fields[i].name, name) == 0) return &plan->fields[i];
    }
    return NULL;
}

/* "bits, hashes": appended, without those that are there already. */
static void list_fields(const tamis_plan *plan, char *text, size_t n) {
    for (unsigned i = 0; i < plan->n_fields; i++) {
        const char *const name = plan->fields[i].name, *const there = strstr(text, name);
        char const after = there != NULL ? there[strlen(name)] : '?';
        if (after == ',' || after == '\0') continue;
        size_t const at = strlen(text);
        (void)snprintf(text + at, n - at, "%s%s", at != 0 ? ", " : "", name);
    }
}

/* Is there any job for which the kind takes this field? As good as it gets, or as bad as may be. */
static bool is_possible(const char *kind, const char *name, uint64_t value) {
    static const uint64_t capacities[] = { 1, 1000, 1000000 };
    static const double   rates[] = { 0.5, 0 };
    char                  text[80];
    (void)snprintf(text, sizeof text, "%s=%llu", name, (unsigned long long)value);
    for (unsigned i = 0; i < 6; i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        tamis_plan plan;
        size_t     n;
        spec.kind = kind;
        spec.geometry = text;
        spec.capacity = capacities[i / 2];
        spec.fpr = rates[i % 2];
        spec.overflow = 0.999;
        if (tamis_plan_kinds(&spec, &plan, 1, &n, NULL) == TAMIS_OK && plan.status == TAMIS_OK) {
            return true;
        }
    }
    return false;
}

/* The last value on the way from a good one to a bad one that is good. */
static uint64_t find_limit(const char *kind, const char *name, uint64_t good, uint64_t bad) {
    for (;;) {
        uint64_t const gap = good < bad ? bad - good : good - bad;
        if (gap <= 1) return good;
        uint64_t const middle = good < bad ? good + gap / 2 : good - gap / 2;
        if (is_possible(kind, name, middle))
            good = middle;
        else
            bad = middle;
    }
}

/* With the names that it has, if there is room for them. */
static void complain_of_name(const tamis_plan *plan, const char *name, char *ret_text, size_t n) {
    char      fields[400] = "";
    int const length = snprintf(ret_text, n, "has no field '%s'", name);
    list_fields(plan, fields, sizeof fields);
    if (length < 0 || (size_t)length + strlen(fields) + 12 > n) return;
    (void)snprintf(ret_text + length, n - (size_t)length, " (it has %s)", fields);
}

static void complain_of_value(const char *kind, const given_field *given, uint64_t usual,
                              char *ret_text, size_t n) {
    if (!is_possible(kind, given->name, usual)) {
        (void)snprintf(ret_text, n, "has no use for %s=%s", given->name, given->number);
        return;
    }
    uint64_t const limit = find_limit(kind, given->name, usual, given->value);
    (void)snprintf(ret_text, n, "takes %s of at %s %llu, not %s", given->name,
                   given->value < usual ? "least" : "most", (unsigned long long)limit,
                   given->number);
}

/* ------------------------------------------------------------------ all together */

typedef enum complaint { NO_COMPLAINT, UNKNOWN_FIELD, WRONG_VALUE } complaint;

static complaint complain(const char *kind, const given_fields *given, char *ret_text, size_t n) {
    tamis_plan plan;
    if (!plan_usual(kind, &plan)) return NO_COMPLAINT;
    for (unsigned i = 0; i < given->n; i++) {
        const given_field *const field = &given->list[i];
        const tamis_field *const known = field_of(&plan, field->name);
        if (known == NULL) {
            complain_of_name(&plan, field->name, ret_text, n);
            return UNKNOWN_FIELD;
        }
        if (!is_possible(kind, field->name, field->value)) {
            complain_of_value(kind, field, known->value, ret_text, n);
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

/* "--geometry X: write FIELD=NUMBER,... as in bits=9585,hashes=7". */
static _Noreturn void die_of_text(const tamis_spec *spec) {
    tamis_plan plan;
    char       example[500] = "";
    if (plan_usual(spec->kind != NULL ? spec->kind : tamis_kind_name(0), &plan)) {
        for (unsigned i = 0; i < plan.n_fields; i++) {
            size_t const at = strlen(example);
            (void)snprintf(example + at, sizeof example - at, "%s%s=%llu", i ? "," : "",
                           plan.fields[i].name, (unsigned long long)plan.fields[i].value);
        }
    }
    die("--geometry '%s': write FIELD=NUMBER, one or more, as %s has %s", spec->geometry, plan.kind,
        example);
}

/* No kind is named, and none has all of the fields: is there one that none has? */
static _Noreturn void die_of_fields(const tamis_spec *spec, const given_fields *given) {
    char fields[600] = "";
    for (unsigned i = 0; i < given->n; i++) {
        bool is_known = false;
        for (size_t k = 0; tamis_kind_name(k) != NULL; k++) {
            tamis_plan plan;
            if (!plan_usual(tamis_kind_name(k), &plan)) continue;
            is_known = is_known || field_of(&plan, given->list[i].name) != NULL;
            list_fields(&plan, fields, sizeof fields);
        }
        if (!is_known) {
            die("--geometry '%s': no kind has a field '%s'; there are %s", spec->geometry,
                given->list[i].name, fields);
        }
    }
    die("--geometry '%s': no kind has all of these fields; name one with --kind to learn which it "
        "has",
        spec->geometry);
}

/* All kinds complain, unless this returns. One that has the fields knows best what is wrong. */
static void check_all_kinds(const tamis_spec *spec, const given_fields *given) {
    const char *expert = NULL;
    char        why[500], best[500];
    for (size_t k = 0; tamis_kind_name(k) != NULL; k++) {
        complaint const found = complain(tamis_kind_name(k), given, why, sizeof why);
        if (found == NO_COMPLAINT) return;
        if (found != WRONG_VALUE || expert != NULL) continue;
        expert = tamis_kind_name(k);
        memcpy(best, why, sizeof best);
    }
    if (expert != NULL) die("--geometry '%s': kind %s %s", spec->geometry, expert, best);
    die_of_fields(spec, given);
}

void geometry_check(const tamis_spec *spec) {
    given_fields given;
    char         why[500];
    if (!read_fields(spec->geometry, &given)) die_of_text(spec);
    const char *const twice = find_twice(&given);
    if (twice != NULL) die("--geometry '%s': %s is given twice", spec->geometry, twice);
    if (spec->kind == NULL)
        check_all_kinds(spec, &given);
    else if (complain(spec->kind, &given, why, sizeof why) != NO_COMPLAINT)
        die("--geometry '%s': kind %s %s", spec->geometry, spec->kind, why);
}
