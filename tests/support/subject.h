/* subject.h - what the laws are held against: one kind, on one instruction set, in one variant. */
#ifndef TAMIS_TESTS_SUBJECT_H
#define TAMIS_TESTS_SUBJECT_H

#include "unit.h"

#include "core/hash.h"
#include "handle.h"

typedef struct subject {
    const char       *kind;
    const char       *isa;
    uint64_t          capacity;
    double            fpr;
    unsigned          abilities;  /* asked for */
    const char       *geometry;   /* NULL, or fields that the variant fixes */
    double            overflow;   /* 0, or what is put up with in a tight geometry */
    uint64_t          operations; /* how long histories are */
    const tamis_kind *instead;    /* NULL, or a sabotaged copy of the kind */
} subject;

/* A law returns NULL, or what is wrong. Laws never assert: a saboteur must be able to see them
 * fail. */
typedef const char *law(const subject *of);

typedef struct named_law {
    const char *name;
    law        *holds;
} named_law;

/* set_laws.c: all of them, a NULL name after the last. */
extern const named_law laws[];

/* A set of the subject's, made as a user would, with a seed of its own. NULL when it fails. */
tamis_set *subject_make(const subject *of, uint64_t seed);

/* The same with every request for memory going through `allocator`. */
tamis_status subject_try(const subject *of, uint64_t seed, const tamis_allocator *allocator,
                         tamis_set **ret_set);

/* Subjects of every registered kind, on every instruction set that runs here; the caller frees. */
subject *subjects_all(uint64_t operations, size_t *ret_n);

/* Which of all trials a program is to run: its arguments, [OPERATIONS [KIND [ISA [LAW]]]]. "" is
 * any of them; ISA can be "best", and LAW a part of a name. */
typedef struct selection {
    uint64_t    operations;
    const char *kind, *isa, *law;
} selection;

selection selection_read(int argc, char **argv, uint64_t operations);
bool      selection_has(const selection *of, const char *kind, const char *isa, const char *name);

/* A reason with numbers in it. The buffer is static: one reason at a time. */
__attribute__((format(printf, 1, 2))) const char *because(const char *format, ...);

/* Inside a law: leave with a reason unless the condition holds. */
#define MUST(condition, ...)                           \
    do {                                               \
        if (!(condition)) return because(__VA_ARGS__); \
    } while (0)

#endif
