/* file.c - files, bytes and pickles of Set, Counter and States. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

const char file_save_doc[] =
    "save($self, path, /)\n--\n\n"
    "Save under a name. At every moment there is the complete old file or the complete new\n"
    "one. Other programs that use tamis, in any language, can open it.\n\n"
    ">>> s = tamis.Set(['apple', 'plum'])\n"
    ">>> s.save('fruit.tamis')\n"
    ">>> 'plum' in tamis.open('fruit.tamis')\n"
    "True\n";

const char file_open_doc[] =
    "open(path, /, *, map=False, trust=False, shared=False, max_bytes=0)\n--\n\n"
    "Open a saved table: a Set, a Counter or a States, whichever it is. (A file does not say\n"
    "whether it was a Set or a Counter; if it counts beyond 15, it becomes a Counter. To choose "
    "the\n"
    "class yourself: tamis.Counter.open(path).)\n\n"
    "With map=True the file is mapped, not read: it opens at once, processes share its memory,\n"
    "and it cannot be changed (copy() it for that). trust=True skips the check of the\n"
    "checksums, which reads the whole file; use it only for files that nobody else can\n"
    "write. shared=True lets many threads change the table, as in tamis.Set().\n"
    "max_bytes limits the memory of a file that you do not trust, now and while it grows.\n\n"
    ">>> tamis.Set(['apple']).save('one.tamis')\n"
    ">>> with tamis.open('one.tamis', map=True) as s:\n"
    "...     print('apple' in s, s.is_mapped)\n"
    "True True\n";

const char file_to_bytes_doc[] = "The bytes of the file that save() would write.";

const char file_from_bytes_doc[] =
    "from_bytes(data, /, *, max_bytes=0)\n--\n\n"
    "Make a table from the result of bytes(table). max_bytes limits its memory, as in\n"
    "tamis.open().\n\n"
    ">>> s = tamis.Set(['apple'])\n"
    ">>> 'apple' in tamis.Set.from_bytes(bytes(s))\n"
    "True\n";

/* ------------------------------------------------------------------ writing */

PyObject *file_save(PyObject *object, PyObject *path) {
    Table *const  self = (Table *)object;
    PyObject     *name;
    tamis_problem problem;
    tamis_status  status = TAMIS_ERR_ARGUMENT;
    if (!PyUnicode_FSConverter(path, &name)) return NULL;
    const char *const text = PyBytes_AsString(name);
    guard_begin(NULL, &self->guard);
    bool const is_open = table_is_open(self);
    if (is_open) {
        Py_BEGIN_ALLOW_THREADS;
        status = self->set != NULL ? tamis_save(self->set, text, &problem)
                                   : tamis_states_save(self->states, text, &problem);
        Py_END_ALLOW_THREADS;
    }
    guard_end(NULL, &self->guard);
    Py_DECREF(name);
    if (!is_open) return NULL;
    if (status != TAMIS_OK) return error_raise(self->core, status, &problem, path);
    Py_RETURN_NONE;
}

typedef struct written_bytes {
    char  *bytes;
    size_t n, room;
} written_bytes;

static bool keep_bytes(void *context, const void *bytes, size_t n) {
    written_bytes *const kept = context;
    if (kept->room - kept->n < n) {
        size_t const room = kept->n + n + kept->room;
        char *const  more = realloc(kept->bytes, room);
        if (more == NULL) return false;
        kept->bytes = more;
        kept->room = room;
    }
    memcpy(kept->bytes + kept->n, bytes, n);
    kept->n += n;
    return true;
}

PyObject *file_to_bytes(PyObject *object, PyObject *unused) {
    Table *const  self = (Table *)object;
    written_bytes kept = { NULL, 0, 0 };
    tamis_status  status = TAMIS_ERR_ARGUMENT;
    (void)unused;
    guard_begin(NULL, &self->guard);
    bool const is_open = table_is_open(self);
    if (is_open) {
        Py_BEGIN_ALLOW_THREADS;
        status = self->set != NULL ? tamis_write(self->set, keep_bytes, &kept)
                                   : tamis_states_write(self->states, keep_bytes, &kept);
        Py_END_ALLOW_THREADS;
    }
    guard_end(NULL, &self->guard);
    PyObject *made = NULL;
    if (status == TAMIS_OK) {
        made = PyBytes_FromStringAndSize(kept.bytes, (Py_ssize_t)kept.n);
    } else if (is_open) { /* our writer stops only if there is no memory */
        error_raise(self->core, TAMIS_ERR_MEMORY, NULL, NULL);
    }
    free(kept.bytes);
    return made;
}

/* ------------------------------------------------------------------ reading */

/* Make an object for a table that was read. The object owns the table; on failure it is freed. */
static PyObject *object_for(PyTypeObject *type, tamis_set *set, tamis_states *states,
                            bool is_shared) {
    Table *const made = (Table *)table_new(type, NULL, NULL);
    if (made == NULL) {
        tamis_free(set);
        tamis_states_free(states);
        return NULL;
    }
    made->set = set;
    made->states = states;
    made->is_shared = is_shared;
    return (PyObject *)made;
}

PyObject *file_from_bytes(PyObject *type, PyObject *args, PyObject *kwargs) {
    static const char *const names[] = { "", "max_bytes", NULL };
    tamis_open_options       options = TAMIS_OPEN_OPTIONS_INIT;
    PyObject                *bytes, *max_bytes = NULL;
    Py_buffer                view;
    tamis_problem            problem;
    tamis_status             status;
    tamis_set               *set = NULL;
    tamis_states            *states = NULL;
    Core *const              core = core_get();
    if (core == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O:from_bytes", (char **)(uintptr_t)names,
                                     &bytes, &max_bytes) ||
        !argument_number(core, max_bytes, "max_bytes", &options.max_bytes) ||
        PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    bool const is_states = PyType_IsSubtype((PyTypeObject *)type, core->states_type);
    Py_BEGIN_ALLOW_THREADS;
    status = is_states ? tamis_states_read(view.buf, (size_t)view.len, &options, &states, &problem)
                       : tamis_read(view.buf, (size_t)view.len, &options, &set, &problem);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&view);
    if (status != TAMIS_OK) return error_raise(core, status, &problem, NULL);
    return object_for((PyTypeObject *)type, set, states, false);
}

/* A pickle is the class and the bytes of the file; attributes of a subclass follow. */
PyObject *file_reduce(PyObject *object, PyObject *unused) {
    PyObject *const bytes = file_to_bytes(object, unused);
    if (bytes == NULL) return NULL;
    PyObject *const from = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "from_bytes");
    PyObject       *state = PyObject_GetAttrString(object, "__dict__");
    if (state == NULL) {
        PyErr_Clear();
        state = Py_NewRef(Py_None);
    }
    if (from == NULL) {
        Py_DECREF(bytes), Py_DECREF(state);
        return NULL;
    }
    return Py_BuildValue("N(N)N", from, bytes, state);
}

typedef struct open_arguments {
    PyObject          *path, *name; /* the argument, and the bytes for the system */
    tamis_open_options options;
} open_arguments;

static bool read_open_arguments(Core *core, PyObject *args, PyObject *kwargs, open_arguments *ret) {
    static const char *const names[] = { "", "map", "trust", "shared", "max_bytes", NULL };
    int                      map = 0, trust = 0, shared = 0;
    PyObject                *max_bytes = NULL;
    *ret = (open_arguments){ .options = TAMIS_OPEN_OPTIONS_INIT };
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$pppO:open", (char **)(uintptr_t)names,
                                     &ret->path, &map, &trust, &shared, &max_bytes) ||
        !argument_number(core, max_bytes, "max_bytes", &ret->options.max_bytes))
        return false;
    ret->options.flags = (map ? TAMIS_OPEN_MAP : 0u) | (trust ? TAMIS_OPEN_TRUST : 0u);
    ret->options.shared = shared && !map; /* no thread can change a mapped table */
    return PyUnicode_FSConverter(ret->path, &ret->name);
}

static tamis_status open_set(const open_arguments *arguments, tamis_set **ret_set,
                             tamis_problem *problem) {
    tamis_status      status;
    const char *const name = PyBytes_AsString(arguments->name);
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_open(name, &arguments->options, ret_set, problem);
    Py_END_ALLOW_THREADS;
    return status;
}

static tamis_status open_states(const open_arguments *arguments, tamis_states **ret_states,
                                tamis_problem *problem) {
    tamis_status      status;
    const char *const name = PyBytes_AsString(arguments->name);
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_states_open(name, &arguments->options, ret_states, problem);
    Py_END_ALLOW_THREADS;
    return status;
}

PyObject *file_open_class(PyObject *type, PyObject *args, PyObject *kwargs) {
    open_arguments arguments;
    tamis_problem  problem;
    tamis_set     *set = NULL;
    tamis_states  *states = NULL;
    Core *const    core = core_get();
    if (core == NULL || !read_open_arguments(core, args, kwargs, &arguments)) return NULL;
    bool const         is_states = PyType_IsSubtype((PyTypeObject *)type, core->states_type);
    tamis_status const status = is_states ? open_states(&arguments, &states, &problem)
                                          : open_set(&arguments, &set, &problem);
    Py_DECREF(arguments.name);
    if (status != TAMIS_OK) return error_raise(core, status, &problem, arguments.path);
    return object_for((PyTypeObject *)type, set, states, arguments.options.shared);
}

/* A file does not say whether it was a Set or a Counter. Sets that were not made to count can count
 * up to 15 copies; a Counter counts to 255 unless the caller asks for less. */
enum { COUNTED_BY_CHANCE = 15 };

static bool was_made_to_count(const tamis_set *set) {
    tamis_facts facts;
    return tamis_get_facts(set, &facts) == TAMIS_OK && facts.count_to > COUNTED_BY_CHANCE;
}

/* If the file has states and not a set, or the reverse, its header says so at once. */
PyObject *file_open(PyObject *module, PyObject *args, PyObject *kwargs) {
    open_arguments arguments;
    tamis_problem  problem;
    tamis_set     *set = NULL;
    tamis_states  *states = NULL;
    Core *const    core = core_get();
    (void)module;
    if (core == NULL || !read_open_arguments(core, args, kwargs, &arguments)) return NULL;
    tamis_status status = open_set(&arguments, &set, &problem);
    if (status == TAMIS_ERR_KIND) { /* it holds states, or is of a kind that is not known here */
        tamis_problem const as_set = problem;
        status = open_states(&arguments, &states, &problem);
        if (status == TAMIS_ERR_KIND) problem = as_set;
    }
    Py_DECREF(arguments.name);
    if (states != NULL)
        return object_for(core->states_type, NULL, states, arguments.options.shared);
    if (status != TAMIS_OK) return error_raise(core, status, &problem, arguments.path);
    return object_for(was_made_to_count(set) ? core->counter_type : core->set_type, set, NULL,
                      arguments.options.shared);
}
