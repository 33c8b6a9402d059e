/* registry.c - the one list of kinds, and which build of each this processor can run.
 *
 * The list itself is `kinds` in meson.build, which compiles each kind once per instruction set and
 * writes kinds.inc: a TAMIS_KIND(name, sse4, avx512) for each. Not every kind has a build for sse4
 * and one for avx512. The second and third word name the build to use there: TAMIS_KIND(vicbf,
 * portable, avx2) has neither.
 */
#include "kind.h"

#include <string.h>

#include "tamis_config.h"

#define TAMIS_KIND(name, sse4, avx512) \
    extern KIND_CAT(const tamis_kind tamis_kind_##name, _portable);
#include "kinds.inc"
#undef TAMIS_KIND

static const tamis_kind *const portable_kinds[] = {
#define TAMIS_KIND(name, sse4, avx512) &KIND_CAT(tamis_kind_##name, _portable),
#include "kinds.inc"
#undef TAMIS_KIND
};

#define N_KINDS (sizeof portable_kinds / sizeof portable_kinds[0])

static bool runs_always(void) {
    return true;
}

#ifdef TAMIS_HAVE_X86
/* Names of builds that a kind does not have are declared, too, and never used. */
#define TAMIS_KIND(name, sse4, avx512)                          \
    extern KIND_CAT(const tamis_kind tamis_kind_##name, _sse4); \
    extern KIND_CAT(const tamis_kind tamis_kind_##name, _avx2); \
    extern KIND_CAT(const tamis_kind tamis_kind_##name, _avx512);
#include "kinds.inc"
#undef TAMIS_KIND

static const tamis_kind *const sse4_kinds[] = {
#define TAMIS_KIND(name, sse4, avx512) &KIND_CAT(tamis_kind_##name, _##sse4),
#include "kinds.inc"
#undef TAMIS_KIND
};

static const tamis_kind *const avx2_kinds[] = {
#define TAMIS_KIND(name, sse4, avx512) &KIND_CAT(tamis_kind_##name, _avx2),
#include "kinds.inc"
#undef TAMIS_KIND
};

/* x86-64-v2: all since 2011. */
static bool runs_sse4(void) {
    return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("ssse3") &&
           __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2");
}

/* x86-64-v3, as far as it is used: most since 2013. */
static bool runs_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
#endif

#ifdef TAMIS_HAVE_AVX512
static const tamis_kind *const avx512_kinds[] = {
#define TAMIS_KIND(name, sse4, avx512) &KIND_CAT(tamis_kind_##name, _##avx512),
#include "kinds.inc"
#undef TAMIS_KIND
};

/* x86-64-v4, as far as it is used: servers of Intel since 2017, AMD since 2022. */
static bool runs_avx512(void) {
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

#ifdef TAMIS_HAVE_NEON
#define TAMIS_KIND(name, sse4, avx512) extern KIND_CAT(const tamis_kind tamis_kind_##name, _neon);
#include "kinds.inc"
#undef TAMIS_KIND

/* Any aarch64. */
static const tamis_kind *const neon_kinds[] = {
#define TAMIS_KIND(name, sse4, avx512) &KIND_CAT(tamis_kind_##name, _neon),
#include "kinds.inc"
#undef TAMIS_KIND
};
#endif

/* The first that runs is the default. avx512 is not, though its operations are faster: processors
 * of Intel before 2021 lower their clock for it, and the rest of a program pays for that
 * (docs/performance-experiments.md). */
static const struct {
    const char *name;
    bool (*runs)(void);
    const tamis_kind *const *kinds;
} isas[] = {
#ifdef TAMIS_HAVE_X86
    { "avx2", runs_avx2, avx2_kinds },
#endif
#ifdef TAMIS_HAVE_AVX512
    { "avx512", runs_avx512, avx512_kinds },
#endif
#ifdef TAMIS_HAVE_X86
    { "sse4", runs_sse4, sse4_kinds },
#endif
#ifdef TAMIS_HAVE_NEON
    { "neon", runs_always, neon_kinds },
#endif
    { "portable", runs_always, portable_kinds },
};

#define N_ISAS (sizeof isas / sizeof isas[0])

/* The i-th table of those that run here; NULL after the last. */
static const tamis_kind *const *isa_kinds(size_t i, const char **ret_name) {
    for (size_t at = 0; at < N_ISAS; at++) {
        if (!isas[at].runs() || i-- != 0) continue;
        *ret_name = isas[at].name;
        return isas[at].kinds;
    }
    return NULL;
}

/* Known from measurements: a Zen 4 is slower with chunks of 32 keys than with 16, so the same is
 * assumed of AMD's older processors; a Zen 5, and an Intel Cascade Lake, are faster. Of AMD's
 * processors, those since Zen 5 have AVX512_VP2INTERSECT. Others have not been measured. */
bool tamis_has_many_misses(void) {
#ifdef TAMIS_HAVE_X86
    return __builtin_cpu_is("intel") || __builtin_cpu_supports("avx512vp2intersect");
#else
    return false;
#endif
}

const char *tamis_isa_name(size_t i) {
    const char *name = NULL;
    return isa_kinds(i, &name) != NULL ? name : NULL;
}

static bool is_of_sets(const tamis_kind *kind) {
    return kind->calls.has != NULL;
}

static bool is_of_states(const tamis_kind *kind) {
    return kind->states != NULL;
}

/* The i-th of some kinds, in an instruction set; NULL after the last. */
static const tamis_kind *kind_at(const tamis_kind *const *kinds, size_t i,
                                 bool (*is_wanted)(const tamis_kind *)) {
    for (size_t at = 0; at < N_KINDS; at++) {
        if (is_wanted(kinds[at]) && i-- == 0) return kinds[at];
    }
    return NULL;
}

const tamis_kind *tamis_kind_at(size_t i) {
    const char *name;
    return kind_at(isa_kinds(0, &name), i, is_of_sets);
}

const tamis_kind *tamis_states_kind_at(size_t i) {
    const char *name;
    return kind_at(isa_kinds(0, &name), i, is_of_states);
}

const char *tamis_kind_name(size_t i) {
    const tamis_kind *const kind = kind_at(portable_kinds, i, is_of_sets);
    return kind != NULL ? kind->name : NULL;
}

const char *tamis_states_kind_name(size_t i) {
    const tamis_kind *const kind = kind_at(portable_kinds, i, is_of_states);
    return kind != NULL ? kind->name : NULL;
}

tamis_status tamis_kind_find(const char *name, const char *isa, const tamis_kind **ret_kind) {
    size_t at = 0;
    while (at < N_KINDS && strcmp(portable_kinds[at]->name, name) != 0) at++;
    if (at == N_KINDS) return TAMIS_ERR_KIND;

    const char              *isa_name;
    const tamis_kind *const *kinds;
    for (size_t i = 0; (kinds = isa_kinds(i, &isa_name)) != NULL; i++) {
        if (isa != NULL && strcmp(isa, isa_name) != 0) continue;
        *ret_kind = kinds[at];
        return TAMIS_OK;
    }
    return TAMIS_ERR_NOT_BUILT;
}

unsigned tamis_kind_abilities(const tamis_kind *kind, const uint64_t *geometry) {
    unsigned const has = (kind->calls.remove ? TAMIS_CAN_REMOVE : 0u) |
                         (kind->calls.count ? TAMIS_CAN_COUNT : 0u) |
                         (kind->merge ? TAMIS_CAN_MERGE : 0u);
    return kind->lacks != NULL && geometry != NULL ? has & ~kind->lacks(geometry) : has;
}

unsigned tamis_kind_n_fields(const tamis_kind *kind) {
    unsigned n = 0;
    while (kind->fields[n].name != NULL) n++;
    return n;
}

tamis_status tamis_kind_fields(const char *kind, tamis_field_range *ret_fields,
                               size_t *ret_n_fields) {
    const tamis_kind *found;
    if (kind == NULL || ret_fields == NULL || ret_n_fields == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = tamis_kind_find(kind, NULL, &found);
    if (status != TAMIS_OK) return status;
    unsigned const n = tamis_kind_n_fields(found);
    for (unsigned i = 0; i < n; i++) {
        const kind_field *const field = &found->fields[i];
        ret_fields[i] = (tamis_field_range){ field->name, field->least, field->most };
    }
    *ret_n_fields = n;
    return TAMIS_OK;
}

const kind_calls *tamis_kind_calls(const tamis_kind *kind, const uint64_t *geometry) {
    const kind_calls *const form = kind->form != NULL ? kind->form(geometry) : NULL;
    return form != NULL ? form : &kind->calls;
}
