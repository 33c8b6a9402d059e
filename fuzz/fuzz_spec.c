/* fuzz_spec.c - the input is a spec: numbers, flags, and the text of a kind and of a geometry.
 *
 * Every spec is planned, or refused with a reason. Plans meet their spec, and small sets are made
 * and used. The first 64 bytes are numbers, then come the kind (a number or a text)
 * and the geometry as text, with a line break between them.
 */
#include "core/le.h"
#include "fuzz.h"

#include <math.h>
#include <tamis/tamis.h>

#define NUMBERS 64
#define TEXT_BYTES 400

/* A number that is often near a limit: few bits, or next to a power of two. */
static uint64_t number_at(const uint8_t *bytes, unsigned i) {
    uint64_t const raw = le64_load(bytes + 8 * i);
    return raw >> (raw % 64);
}

static double rate_at(const uint8_t *bytes, unsigned i) {
    uint64_t const raw = le64_load(bytes + 8 * i);
    double         rate;
    memcpy(&rate, &raw, sizeof rate);
    return raw % 3 == 0 ? rate : pow(2, -(double)(raw % 45)); /* any bits, or a sensible one */
}

/* Up to the next line break, into `ret_text`. Returns where the rest begins. */
static size_t text_at(const uint8_t *bytes, size_t n, size_t at, char *ret_text) {
    size_t length = 0;
    for (; at < n && bytes[at] != '\n'; at++) {
        if (length + 1 < TEXT_BYTES) ret_text[length++] = (char)bytes[at];
    }
    ret_text[length] = '\0';
    return at + 1;
}

static void use(const tamis_spec *spec, const tamis_plan *plan) {
    tamis_set    *set = NULL;
    tamis_problem problem;
    if (plan->status != TAMIS_OK || plan->body_bytes > 1 << 20) return;
    if (tamis_create(spec, &set, &problem) != TAMIS_OK) return;
    for (uint64_t id = 0; id < 50; id++)
        must(tamis_add_id(set, id) != TAMIS_OK || tamis_has_id(set, id));
    must(tamis_validate(set, NULL));
    tamis_free(set);
}

static void plan_set(tamis_spec *spec) {
    tamis_plan    rows[32];
    size_t        n = 0;
    tamis_problem problem = { .text = "" };
    tamis_status  status = tamis_plan_kinds(spec, rows, 32, &n, &problem);
    if (status != TAMIS_OK) {
        must(problem.status == status && problem.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < n && i < 32; i++) {
        if (rows[i].status != TAMIS_OK) continue;
        must(rows[i].body_bytes != 0 && rows[i].fpr >= 0 && rows[i].fpr <= 1);
        must(spec->memory == 0 || rows[i].body_bytes <= spec->memory);
    }
    if (spec->kind != NULL) use(spec, &rows[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    char             kind[TEXT_BYTES], geometry[TEXT_BYTES];
    tamis_spec       spec = TAMIS_SPEC_INIT;
    tamis_seed const seed = { 1, 2 };
    if (n < NUMBERS + 2) return 0;
    size_t const at = text_at(bytes, n, NUMBERS + 1, kind);
    (void)text_at(bytes, n, at, geometry);
    spec.capacity = number_at(bytes, 0);
    spec.fpr = rate_at(bytes, 1);
    spec.abilities = bytes[16] % 16;
    spec.copies = bytes[17] % 4 != 0 ? 0 : number_at(bytes, 3);
    spec.count_to = bytes[18] % 4 != 0 ? 0 : number_at(bytes, 3);
    spec.memory = bytes[19] % 4 != 0 ? 0 : number_at(bytes, 4);
    spec.lifetime = bytes[20] % 4 != 0 ? 0 : number_at(bytes, 5);
    spec.overflow = bytes[21] % 4 != 0 ? 0 : rate_at(bytes, 6);
    spec.grow_to = bytes[22] % 4 != 0 ? 0 : number_at(bytes, 7);
    spec.prefer = (tamis_preference)(bytes[23] % 3);
    spec.seed = &seed;
    spec.kind = bytes[NUMBERS] < 250 ? tamis_kind_name(bytes[NUMBERS] % 10) : kind;
    spec.geometry = geometry[0] != '\0' ? geometry : NULL;
    plan_set(&spec);
    return 0;
}
