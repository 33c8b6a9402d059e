/* attributes.h - attributes that Set, Counter and States have in common. */
#ifndef TAMIS_PYTHON_ATTRIBUTES_H
#define TAMIS_PYTHON_ATTRIBUTES_H

#include "core.h"

/* What is known about a set or states without reading the body. */
typedef struct Facts {
    const char *kind;
    tamis_seed  seed;
    bool        is_mapped;
    uint64_t    keys, capacity, grow_to, nbytes;
    uint64_t    values, backlog; /* of states */
} Facts;

/* False, with an exception, if the table is not open. */
bool       table_facts(PyObject *object, Facts *ret);
Py_ssize_t table_length(PyObject *object);

PyObject *attribute_kind(PyObject *object, void *unused);
PyObject *attribute_number(PyObject *object, void *closure);
PyObject *attribute_mapped(PyObject *object, void *unused);
PyObject *attribute_shared(PyObject *object, void *unused);
PyObject *attribute_seed(PyObject *object, void *unused);
PyObject *attribute_closed(PyObject *object, void *unused);

/* Entries of a PyGetSetDef. */
#define NUMBER_ATTRIBUTE(name, doc) \
    { #name, attribute_number, NULL, doc, (void *)(uintptr_t)offsetof(Facts, name) }

/* clang-format off */
#define TABLE_ATTRIBUTES \
    { "kind", attribute_kind, NULL, "The construction: 'line', 'rank', ...", NULL }, \
    NUMBER_ATTRIBUTE(capacity, "How many different keys it is made for now."), \
    NUMBER_ATTRIBUTE(grow_to, "The largest capacity it grows to; 0 if it does not grow."), \
    NUMBER_ATTRIBUTE(nbytes, "Bytes of the table in memory."), \
    { "is_mapped", attribute_mapped, NULL, "Whether it is mapped from a file: read-only.", NULL }, \
    { "is_shared", attribute_shared, NULL, "Whether it was made with shared=True.", NULL }, \
    { "seed", attribute_seed, NULL, "The seed of its hash function: an int of 128 bits.", NULL }, \
    { "closed", attribute_closed, NULL, "Whether close() was called.", NULL }
/* clang-format on */

#endif
