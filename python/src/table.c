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
    self->core = NULL; /* the guard is not there to be taken down */
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
    PyErr_SetString(PyExc_ValueError, "this table was closed, or its __init__ was not called");
    return false;
}

PyObject *table_close(PyObject *object, PyObject *unused) {
    (void)unused;
    table_hold((Table *)object, NULL, NULL);
    Py_RETURN_NONE;
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
