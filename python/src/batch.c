/* batch.c - make runs of keys from Python objects, and apply the operation to them. See batch.h. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

/* Keys in a run. It is so large that taking the GIL again costs little in comparison, even if
 * another thread keeps it for its 5 ms; and so small that a run stays in the second-level cache. */
enum { OBJECTS = 16384 };

/* Runs below this keep the GIL: they take a few microseconds. */
enum { WORTH_RELEASING = 256 };

/* ------------------------------------------------------------------ taking runs */

static bool make_room(Op *op, size_t n) {
    if (op->limit - op->done < n) {
        error_format(op->table->core, "ArgumentError",
                     "there are more keys than values: %zu values", op->limit);
        return false;
    }
    if (op->result_bytes == 0 || op->room >= op->done + n) return true;
    if (PyByteArray_Resize(op->results, (Py_ssize_t)((op->done + n) * op->result_bytes)) < 0)
        return false;
    op->results_at = PyByteArray_AsString(op->results);
    op->room = op->done + n;
    return true;
}

static bool end_run(Op *op, tamis_status status) {
    op->status = status;
    if (status != TAMIS_OK) error_raise_batch(op->table->core, status, op->done);
    return status == TAMIS_OK;
}

/* Whether an operation needs the table for itself. */
static bool is_alone(const Op *op) {
    return op->writes && !op->table->is_shared;
}

static Guard *guard_written(Op *op) {
    return is_alone(op) ? &op->table->guard : NULL;
}

static Guard *guard_read(Op *op) {
    return is_alone(op) ? NULL : &op->table->guard;
}

bool op_take(Op *op, const Run *run) {
    tamis_status status;
    if (run->n == 0) return true;
    if (!make_room(op, run->n)) return false;
    guard_begin(guard_written(op), guard_read(op));
    bool const is_open = table_is_open(op->table);
    if (!is_open) {
        status = TAMIS_ERR_ARGUMENT;
    } else if (run->n < WORTH_RELEASING) {
        status = op->run(op, run);
    } else {
        Py_BEGIN_ALLOW_THREADS;
        status = op->run(op, run);
        Py_END_ALLOW_THREADS;
    }
    guard_end(guard_written(op), guard_read(op));
    return is_open && end_run(op, status);
}

static tamis_status take_parts(Op *op, const key_array *array, fill_room *room) {
    for (size_t first = 0; first < array->n; first += FILL_KEYS) {
        size_t const left = array->n - first;
        Run          run = { NULL, NULL, left < FILL_KEYS ? left : FILL_KEYS };
        array->fill(array, first, run.n, room, &run);
        tamis_status const status = op->run(op, &run);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

bool op_take_array(Op *op, const key_array *array) {
    tamis_status status = TAMIS_ERR_ARGUMENT;
    if (!make_room(op, array->n)) return false;
    fill_room *const room = malloc(sizeof *room + FILL_KEYS * array->text_bytes);
    if (room == NULL) return PyErr_NoMemory() != NULL;
    room->text = (char *)(room + 1);
    guard_begin(guard_written(op), guard_read(op));
    bool const is_open = table_is_open(op->table);
    if (is_open) {
        Py_BEGIN_ALLOW_THREADS;
        status = take_parts(op, array, room);
        Py_END_ALLOW_THREADS;
    }
    guard_end(guard_written(op), guard_read(op));
    free(room);
    return is_open && end_run(op, status);
}

/* ------------------------------------------------------------------ Python objects */

/* Objects that are collected for the next run, all ids or all bytes. We keep references to objects
 * whose bytes we point to, since another thread may empty the list while the GIL is released. */
typedef struct gathered {
    tamis_key keys[OBJECTS];
    PyObject *owners[OBJECTS];
    uint64_t  ids[OBJECTS];
    size_t    n_keys, n_ids;
} gathered;

static bool take_gathered(Op *op, gathered *from) {
    Run const  ids = { NULL, from->ids, from->n_ids }, keys = { from->keys, NULL, from->n_keys };
    bool const is_taken = op_take(op, from->n_ids > 0 ? &ids : &keys);
    for (size_t i = 0; i < from->n_keys; i++) Py_DECREF(from->owners[i]);
    from->n_ids = from->n_keys = 0;
    return is_taken;
}

/* Ids and bytes are handled in their order, since a batch has the same results as single calls. */
static bool gather(Op *op, gathered *into, PyObject *object) {
    Key key;
    if (!key_read(op->table->core, object, &key)) return false;
    size_t const others = key.is_id ? into->n_keys : into->n_ids;
    if (others > 0 && !take_gathered(op, into)) {
        key_release(&key);
        return false;
    }
    if (key.is_id) {
        into->ids[into->n_ids++] = key.id;
    } else {
        into->keys[into->n_keys] = (tamis_key){ key.data, key.bytes };
        into->owners[into->n_keys++] = key.owner != NULL ? key.owner : Py_NewRef(object);
    }
    return into->n_ids + into->n_keys < OBJECTS || take_gathered(op, into);
}

/* The length of the list may change while we work, so it is read again for each key. */
static bool gather_list(Op *op, gathered *into, PyObject *list) {
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        PyObject *const object = Py_NewRef(PyList_GetItem(list, i));
        bool const      is_gathered = gather(op, into, object);
        Py_DECREF(object);
        if (!is_gathered) return false;
    }
    return true;
}

static bool gather_iterator(Op *op, gathered *into, PyObject *keys) {
    PyObject *const iterator = PyObject_GetIter(keys);
    if (iterator == NULL) return false;
    bool      is_good = true;
    PyObject *object;
    while (is_good && (object = PyIter_Next(iterator)) != NULL) {
        is_good = gather(op, into, object);
        Py_DECREF(object);
    }
    Py_DECREF(iterator);
    return is_good && PyErr_Occurred() == NULL;
}

/* An object that cannot be a key ends the batch; the keys before it are done, as with single
 * calls. */
static bool take_rest(Op *op, gathered *from, bool is_good) {
    if (is_good) return take_gathered(op, from);
    if (from->n_ids + from->n_keys == 0) return false;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (take_gathered(op, from)) {
        PyErr_Restore(type, value, traceback);
        return false;
    }
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    return false;
}

static bool objects_do(Op *op, PyObject *keys) {
    gathered *const room = malloc(sizeof *room);
    if (room == NULL) return PyErr_NoMemory() != NULL;
    room->n_keys = room->n_ids = 0;
    bool const is_good =
        PyList_CheckExact(keys) ? gather_list(op, room, keys) : gather_iterator(op, room, keys);
    bool const is_done = take_rest(op, room, is_good);
    free(room);
    return is_done;
}

/* ------------------------------------------------------------------ a batch */

/* update("abc") would add "a", "b" and "c", which is surely not intended. */
static bool refuse_one_key(Op *op, PyObject *keys) {
    if (!PyUnicode_Check(keys) && !PyBytes_Check(keys) && !PyByteArray_Check(keys)) return false;
    error_format(op->table->core, "KeyTypeError",
                 "expected many keys, not one str or bytes: put it into a list");
    return true;
}

bool batch_do(Op *op, PyObject *keys) {
    if (op->result_bytes > 0) {
        op->results = PyByteArray_FromStringAndSize(NULL, 0);
        if (op->results == NULL) return false;
    }
    if (refuse_one_key(op, keys)) return false;
    if (PyList_CheckExact(keys) || PyTuple_CheckExact(keys)) return objects_do(op, keys);
    int is_done = arrow_do(op, keys);
    if (is_done == 0) is_done = memory_do(op, keys);
    return is_done != 0 ? is_done > 0 : objects_do(op, keys);
}

/* numpy, or None if it is not installed (a borrowed reference); NULL with an exception. */
static PyObject *numpy_of(Core *core) {
    if (core->numpy == NULL) {
        core->numpy = PyImport_ImportModule("numpy");
        if (core->numpy == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_ImportError)) return NULL;
            PyErr_Clear();
            core->numpy = Py_NewRef(Py_None);
        }
    }
    return core->numpy;
}

PyObject *batch_results(Op *op, const char *numpy_type, const char *format) {
    PyObject *const numpy = numpy_of(op->table->core);
    PyObject *const bytes = op->results;
    if (numpy == NULL) return NULL;
    if (PyByteArray_Resize(bytes, (Py_ssize_t)(op->done * op->result_bytes)) < 0) return NULL;
    if (numpy != Py_None && op->done > 0)
        return PyObject_CallMethod(numpy, "frombuffer", "Os", bytes, numpy_type);
    if (numpy != Py_None) return PyObject_CallMethod(numpy, "empty", "is", 0, numpy_type);
    if (op->result_bytes == 1) return Py_NewRef(bytes);
    PyObject *const view = PyMemoryView_FromObject(bytes);
    if (view == NULL) return NULL;
    PyObject *const cast = PyObject_CallMethod(view, "cast", "s", format);
    Py_DECREF(view);
    return cast;
}
