/* counter.c - tamis.Counter: a Set that counts, with method names as in collections.Counter. */
#include "set.h"

static PyObject *counter_getitem(PyObject *object, PyObject *item) {
    Table *const self = (Table *)object;
    uint64_t     count;
    Key          key;
    if (!key_ready_to_read(self, item, &key)) return NULL;
    tamis_status const status = key.is_id ? tamis_count_id(self->set, key.id, &count)
                                          : tamis_count(self->set, key.data, key.bytes, &count);
    key_release(&key);
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, item);
    return PyLong_FromUnsignedLongLong(count);
}

/* The count of a key may include copies of another key with the same fingerprint. If we set a count
 * by adding or removing the difference, the count would be too low after the other key is removed:
 * a wrong no. */
static int counter_setitem(PyObject *object, PyObject *item, PyObject *value) {
    (void)item, (void)value;
    error_format(((Table *)object)->core, "CannotError",
                 "counts cannot be set; change them with add(key, n) and remove(key)");
    return -1;
}

static bool add_copies(Table *self, PyObject *item, uint64_t copies) {
    Key key;
    if (!key_ready_to_write(self, item, &key)) return false;
    tamis_status const status = key.is_id
                                    ? tamis_add_copies_id(self->set, key.id, copies)
                                    : tamis_add_copies(self->set, key.data, key.bytes, copies);
    key_release(&key);
    if (status != TAMIS_OK) error_raise(self->core, status, NULL, item);
    return status == TAMIS_OK;
}

static PyObject *counter_add(PyObject *object, PyObject *args, PyObject *kwargs) {
    static const char *const names[] = { "", "n", NULL };
    Table *const             self = (Table *)object;
    PyObject                *item, *copies = NULL;
    uint64_t                 n = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:add", (char **)(uintptr_t)names, &item,
                                     &copies))
        return NULL;
    if (!argument_number(self->core, copies, "n", &n)) return NULL;
    if (!add_copies(self, item, n)) return NULL;
    Py_RETURN_NONE;
}

/* A mapping has a count for each key. */
static PyObject *update_by_mapping(Table *self, PyObject *mapping) {
    PyObject *const items = PyMapping_Items(mapping);
    if (items == NULL) return NULL;
    bool is_good = true;
    for (Py_ssize_t i = 0; is_good && i < PyList_Size(items); i++) {
        PyObject *const pair = PyList_GetItem(items, i);
        uint64_t        n = 0;
        is_good = argument_number(self->core, PyTuple_GetItem(pair, 1), "count", &n) &&
                  add_copies(self, PyTuple_GetItem(pair, 0), n);
    }
    Py_DECREF(items);
    if (!is_good) return NULL;
    Py_RETURN_NONE;
}

static PyObject *counter_update(PyObject *object, PyObject *keys) {
    bool const is_mapping = PyDict_Check(keys) || PyObject_HasAttrString(keys, "keys");
    return is_mapping ? update_by_mapping((Table *)object, keys) : set_update(object, keys);
}

static int counter_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    Table *const  self = (Table *)object;
    set_arguments arguments;
    if (!arguments_of_set(self->core, args, kwargs, MUST_COUNT, &arguments)) return -1;
    if (set_make(self, &arguments) < 0) return -1;
    if (arguments.keys == NULL || arguments.keys == Py_None) return 0;
    PyObject *const updated = counter_update(object, arguments.keys);
    Py_XDECREF(updated);
    return updated != NULL ? 0 : -1;
}

static PyObject *counter_most(PyObject *object, PyObject *args) {
    (void)args;
    return error_format(((Table *)object)->core, "CannotError",
                        "a tamis.Counter stores fingerprints, not keys, so it cannot list "
                        "the most common keys; keep a list of candidates and call counts()");
}

static PyObject *counter_total(PyObject *object, PyObject *unused) {
    (void)unused;
    Py_ssize_t const n = PyObject_Length(object);
    return n >= 0 ? PyLong_FromSsize_t(n) : NULL;
}

static PyMethodDef counter_methods[] = {
    { "add", (PyCFunction)(void (*)(void))counter_add, METH_VARARGS | METH_KEYWORDS,
      counter_add_doc },
    { "update", counter_update, METH_O, counter_update_doc },
    { "counts", set_counts, METH_O, counter_counts_doc },
    { "total", counter_total, METH_NOARGS, counter_total_doc },
    { "most", counter_most, METH_VARARGS, counter_most_doc },
    { "most_common", counter_most, METH_VARARGS, counter_most_doc },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot counter_slots[] = {
    { Py_tp_doc, (void *)(uintptr_t)counter_doc },
    { Py_tp_init, counter_init },
    { Py_tp_methods, counter_methods },
    { Py_mp_subscript, counter_getitem },
    { Py_mp_ass_subscript, counter_setitem },
    { 0, NULL },
};

PyType_Spec core_counter_spec = {
    .name = "tamis.Counter",
    .basicsize = sizeof(Table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = counter_slots,
};
