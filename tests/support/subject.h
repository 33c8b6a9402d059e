/* subject.h - what the laws are tested on: one kind, on one instruction set, in one variant. */
#ifndef TAMIS_TESTS_SUBJECT_H
#define TAMIS_TESTS_SUBJECT_H

#include "make.h"

#include "core/hash.h"
#include "handle.h"

typedef struct subject {
    const char       *kind;
    const char       *isa;
    uint64_t          capacity;
    uint64_t          lifetime; /* 0: the default */
    double            fpr;
    unsigned          abilities;  /* asked for */
    tamis_preference  prefer;     /* 0: the default */
    const char       *geometry;   /* NULL, or fields that the variant fixes */
    double            overflow;   /* 0, or the overflow that is accepted in a tight geometry */
    uint64_t          grow_to;    /* 0, or how far it grows (grow.h). States that grow begin with a
                                     quarter of their capacity, which is grow_to, too */
    uint64_t          copies;     /* 0, or as in tamis_spec */
    tamis_hash        hash;       /* 0: the default */
    uint64_t          operations; /* how long histories are */
    const tamis_kind *instead;    /* NULL, or a sabotaged copy of the kind */
    /* States only: life.h makes them. */
    uint64_t values, timeout; /* values: 0 for a set */
    double   unknown;
    bool     is_shared; /* keys share cells, as in state_bloom */
} subject;

/* Fewer operations than this are a short run, as in make check: laws do less of what is
 * statistical. */
#define SHORT_RUN 4000

/* A law returns NULL, or what is wrong. Laws never assert: a saboteur must be able to see them
 * fail. */
typedef struct named_law {
    const char *name;
    const char *(*holds)(const subject *variant);
} named_law;

/* set_laws.c and states_laws.c: all of them, a NULL name after the last. */
extern const named_law set_laws[], states_laws[];

/* A set of the subject's, made as a user would. NULL when it fails: a law must not assert. */
tamis_set *subject_make(const subject *variant, uint64_t seed);

/* Does the kind have a build of its own for this instruction set? If not, it uses another one,
 * which need not be tested twice. */
bool isa_is_own(const char *kind, const char *isa);

/* Is it the one that the kind uses on this processor by itself? */
bool isa_is_best(const char *kind, const char *isa);

/* The same for tests: they fail with the reason. */
tamis_set *make_set(const subject *variant, uint64_t seed);

/* The same with every request for memory going through `allocator`. */
tamis_status subject_try(const subject *variant, uint64_t seed, const tamis_allocator *allocator,
                         tamis_set **ret_set, tamis_problem *reterr_problem);

/* Subjects of every registered kind, on every instruction set that runs here; the caller frees. */
subject *subjects_all(uint64_t operations, size_t *ret_n);

/* A reason with numbers in it. The buffer is static: one reason at a time. */
__attribute__((format(printf, 1, 2))) const char *because(const char *format, ...);

/* Inside a law: leave with a reason unless the condition holds. */
#define MUST(condition, ...)                           \
    do {                                               \
        if (!(condition)) return because(__VA_ARGS__); \
    } while (0)

#endif
