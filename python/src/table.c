/* table.c - the life of a Python object that holds a set or states. */
#include "core.h"

PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    Core *const core = core_get();
    if (core == NULL) return NULL;
    allocfunc const allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Table *const    self = (Table *)allocate(type, 0);
    if (self == NULL) return NULL;
    self->core = core;
    if (guard_init(&self->guard)) return (PyObject *)self;
    self->core = NULL; /* there is no guard to free */
    Py_DECREF(self);
    return PyErr_NoMemory();
}

static void free_held(Table *self) {
    tamis_free(self->set);
    tamis_states_free(self->states);
    self->set = NULL;
    self->states = NULL;
}

/* Nobody refers to the object, so no batch runs on it. */
void table_dealloc(PyObject *object) {
    Table *const        self = (Table *)object;
    PyTypeObject *const type = Py_TYPE(object);
    free_held(self);
    if (self->core != NULL) guard_fini(&self->guard);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

int table_hold(Table *self, tamis_set *set, tamis_states *states) {
    guard_wait_to_write(&self->guard);
    free_held(self);
    self->set = set;
    self->states = states;
    return 0;
}

bool table_is_open(Table *self) {
    if (self->set != NULL || self->states != NULL) return true;
    error_format(self->core, "ClosedError",
                 "this table was closed, or its __init__ was not called");
    return false;
}

PyObject *table_close(PyObject *object, PyObject *unused) {
    (void)unused;
    table_hold((Table *)object, NULL, NULL);
    Py_RETURN_NONE;
}

/* The copy of a shared table is shared, too. */
static tamis_status copy_held(const Table *self, Table *into) {
    into->is_shared = self->is_shared;
    return self->set != NULL ? tamis_copy(self->set, &into->set)
                             : tamis_states_copy(self->states, &into->states);
}

PyObject *table_copy(PyObject *object, PyObject *unused) {
    Table *const self = (Table *)object;
    tamis_status status = TAMIS_ERR_ARGUMENT;
    (void)unused;
    PyObject *const made = table_new(Py_TYPE(object), NULL, NULL);
    if (made == NULL) return NULL;
    guard_begin(NULL, &self->guard);
    bool const is_open = table_is_open(self);
    if (is_open) {
        Py_BEGIN_ALLOW_THREADS;
        status = copy_held(self, (Table *)made);
        Py_END_ALLOW_THREADS;
    }
    guard_end(NULL, &self->guard);
    if (status == TAMIS_OK) return made;
    if (is_open) error_raise(self->core, status, NULL, NULL);
    Py_DECREF(made);
    return NULL;
}

PyObject *table_deepcopy(PyObject *object, PyObject *memo) {
    (void)memo;
    return table_copy(object, NULL);
}

PyObject *table_change_by(PyObject *into, PyObject *from, table_change *change) {
    Table *const self = (Table *)into, *const other = (Table *)from;
    tamis_status status = TAMIS_ERR_ARGUMENT;
    guard_begin(&self->guard, &other->guard);
    bool const is_open = table_is_open(self) && table_is_open(other);
    if (is_open) {
        Py_BEGIN_ALLOW_THREADS;
        status = change(self, other);
        Py_END_ALLOW_THREADS;
    }
    guard_end(&self->guard, &other->guard);
    if (!is_open) return NULL;
    if (status == TAMIS_OK) return Py_NewRef(into);
    if (self == other)
        return error_format(self->core, "ArgumentError", "a table cannot be changed by itself");
    return error_raise(self->core, status, NULL, NULL);
}

PyObject *table_enter(PyObject *object, PyObject *unused) {
    (void)unused;
    if (!table_is_open((Table *)object)) return NULL;
    return Py_NewRef(object);
}

PyObject *table_exit(PyObject *object, PyObject *args) {
    (void)args;
    return table_close(object, NULL);
}
