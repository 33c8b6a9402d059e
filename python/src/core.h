/* core.h - declarations that the files of the Python module share.
 *
 * Built on the limited API of CPython 3.11: one binary for 3.11 and all later versions.
 *
 * A Python object (Table) holds one tamis_set or one tamis_states. Single calls keep the GIL and
 * take nanoseconds. Batches release it; guard.h keeps other threads from changing a table
 * that is being read, and from using one that is being changed.
 */
#ifndef TAMIS_PYTHON_CORE_H
#define TAMIS_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <tamis/tamis.h>

#include "guard.h"

/* State of the module, one per interpreter. */
typedef struct Core {
    PyTypeObject *set_type;
    PyTypeObject *counter_type;
    PyTypeObject *states_type;
    PyObject     *errors;  /* tamis._errors */
    PyObject     *records; /* tamis._records: Info, StatesInfo, PlanRow */
    PyObject     *unknown; /* tamis.UNKNOWN */
    PyObject     *numpy;   /* NULL: not imported yet; None: not installed */
} Core;

/* The object behind Set, Counter and States. */
typedef struct Table {
    PyObject_HEAD Core *core;
    Guard               guard;
    tamis_set          *set;       /* one of these two; both are NULL after close() */
    tamis_states       *states;    /* ... or when __init__ was not called */
    bool                is_shared; /* many threads may change it: made with shared=True */
} Table;

extern PyType_Spec core_set_spec, core_counter_spec, core_states_spec;

/* The state of this interpreter's module; NULL with an exception set. */
Core *core_get(void);

/* ------------------------------------------------------------------ table.c: life of an object */

PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
void      table_dealloc(PyObject *object);
PyObject *table_close(PyObject *object, PyObject *unused);
PyObject *table_copy(PyObject *object, PyObject *unused);
PyObject *table_deepcopy(PyObject *object, PyObject *memo);
PyObject *table_enter(PyObject *object, PyObject *unused);
PyObject *table_exit(PyObject *object, PyObject *args);

/* Replace the set or states of the object. Waits for batches of other threads. */
int table_hold(Table *self, tamis_set *set, tamis_states *states);

/* False, with an exception, if the table was closed or never made. */
bool table_is_open(Table *self);

/* Merge or subtract another table of the same type, without the GIL. Returns a new reference to
 * `into`. */
typedef tamis_status table_change(Table *into, const Table *from);
PyObject            *table_change_by(PyObject *into, PyObject *from, table_change *change);

/* Before a single call, which keeps the GIL: wait for batches of other threads that exclude it.
 * False, with an exception, if the table is not open. */
static inline bool table_can_read(Table *self) {
    if (self->guard.writers == 0 && (self->set != NULL || self->states != NULL)) return true;
    guard_wait_to_read(&self->guard);
    return table_is_open(self);
}

static inline bool table_can_write(Table *self) {
    unsigned const in_the_way = self->is_shared ? 0 : self->guard.readers;
    if (self->guard.writers + in_the_way == 0 && (self->set != NULL || self->states != NULL))
        return true;
    guard_wait_to_write(&self->guard);
    return table_is_open(self);
}

/* ------------------------------------------------------------------ errors.c */

/* Raise the exception of tamis._errors for a status; always returns NULL. `problem` and `subject`
 * (a key or a path) may be NULL. */
PyObject *error_raise(Core *core, tamis_status status, const tamis_problem *problem,
                      PyObject *subject);

/* The same for a batch that stopped: the exception says how many keys were done. */
PyObject *error_raise_batch(Core *core, tamis_status status, size_t done);

/* Raise an exception of tamis._errors by its name, with a sentence as in PyErr_Format(). */
PyObject *error_format(Core *core, const char *name, const char *format, ...);

/* ------------------------------------------------------------------ key.c */

/* A key in the form that the library needs. */
typedef struct Key {
    bool        is_id;
    uint64_t    id;
    const void *data; /* inside the Python object, or inside `owner` */
    size_t      bytes;
    PyObject   *owner; /* a copy of the bytes of a memoryview; NULL for other keys */
} Key;

/* False with an exception: not bytes, str or int, or an int of more than 64 bits. */
bool key_read(Core *core, PyObject *object, Key *ret_key);
bool key_read_int(Core *core, PyObject *object, uint64_t *ret_id);

static inline void key_release(Key *key) {
    Py_XDECREF(key->owner);
}

/* Read a key, then wait until the table may be used. The key is read first, because that may call
 * Python code, and another thread may begin a batch meanwhile. */
static inline bool key_ready_to_read(Table *self, PyObject *object, Key *ret_key) {
    if (!key_read(self->core, object, ret_key)) return false;
    if (table_can_read(self)) return true;
    key_release(ret_key);
    return false;
}

static inline bool key_ready_to_write(Table *self, PyObject *object, Key *ret_key) {
    if (!key_read(self->core, object, ret_key)) return false;
    if (table_can_write(self)) return true;
    key_release(ret_key);
    return false;
}

/* ------------------------------------------------------------------ arguments.c */

/* The keywords of Set(), Counter(), States() and the plans, as a spec. */
typedef struct set_arguments {
    PyObject  *keys; /* borrowed, or NULL */
    tamis_spec spec;
    tamis_seed seed;
} set_arguments;

typedef struct states_arguments {
    tamis_states_spec spec;
    tamis_seed        seed;
    uint64_t          timeouts[16];
} states_arguments;

enum { MAY_COUNT = 1, MUST_COUNT = 2 };

bool arguments_of_set(Core *core, PyObject *args, PyObject *kwargs, int counting,
                      set_arguments *ret);
bool arguments_of_states(Core *core, PyObject *args, PyObject *kwargs, states_arguments *ret);

/* An integer from 0 to 2^64 - 1, also written as 1e6; None leaves *ret_number as it is. */
bool argument_number(Core *core, PyObject *object, const char *name, uint64_t *ret_number);

/* ------------------------------------------------------------------ file.c */

PyObject *file_save(PyObject *object, PyObject *path);
PyObject *file_to_bytes(PyObject *object, PyObject *unused);
PyObject *file_from_bytes(PyObject *type, PyObject *args, PyObject *kwargs);
PyObject *file_open_class(PyObject *type, PyObject *args, PyObject *kwargs);
PyObject *file_open(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *file_reduce(PyObject *object, PyObject *unused);

extern const char file_save_doc[], file_to_bytes_doc[], file_from_bytes_doc[], file_open_doc[];

/* ------------------------------------------------------------------ plan.c and records */

PyObject *plan_rows(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *plan_stages(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *plan_to_record(Core *core, const tamis_plan *plan);
PyObject *record_seed(const tamis_seed *seed);
PyObject *record_abilities(unsigned abilities);
PyObject *info_of_set(Table *self);
PyObject *info_of_states(Table *self);

#endif
