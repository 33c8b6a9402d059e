/* set.c - tamis.Set: operations on one key and on whole sets, and attributes. */
#include <stdlib.h>

#include "attributes.h"
#include "set.h"

/* ------------------------------------------------------------------ making */

int set_make(Table *self, set_arguments *arguments) {
    tamis_set         *made;
    tamis_problem      problem;
    tamis_status const status = tamis_create(&arguments->spec, &made, &problem);
    if (status != TAMIS_OK) {
        error_raise(self->core, status, &problem, NULL);
        return -1;
    }
    table_hold(self, made, NULL);
    self->is_shared = arguments->spec.shared;
    return 0;
}

static int set_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    Table *const  self = (Table *)object;
    set_arguments arguments;
    if (!arguments_of_set(self->core, args, kwargs, 0, &arguments)) return -1;
    if (set_make(self, &arguments) < 0) return -1;
    if (arguments.keys == NULL || arguments.keys == Py_None) return 0;
    PyObject *const updated = set_update(object, arguments.keys);
    Py_XDECREF(updated);
    return updated != NULL ? 0 : -1;
}

/* ------------------------------------------------------------------ one key */

static int set_contains(PyObject *object, PyObject *item) {
    Table *const self = (Table *)object;
    Key          key;
    if (!key_ready_to_read(self, item, &key)) return -1;
    bool const is_in =
        key.is_id ? tamis_has_id(self->set, key.id) : tamis_has(self->set, key.data, key.bytes);
    key_release(&key);
    return is_in;
}

static PyObject *set_add(PyObject *object, PyObject *item) {
    Table *const self = (Table *)object;
    Key          key;
    if (!key_ready_to_write(self, item, &key)) return NULL;
    tamis_status const status =
        key.is_id ? tamis_add_id(self->set, key.id) : tamis_add(self->set, key.data, key.bytes);
    key_release(&key);
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, item);
    Py_RETURN_NONE;
}

static PyObject *set_add_new(PyObject *object, PyObject *item) {
    Table *const self = (Table *)object;
    bool         is_new;
    Key          key;
    if (!key_ready_to_write(self, item, &key)) return NULL;
    tamis_status const status = key.is_id ? tamis_add_new_id(self->set, key.id, &is_new)
                                          : tamis_add_new(self->set, key.data, key.bytes, &is_new);
    key_release(&key);
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, item);
    return PyBool_FromLong(is_new);
}

/* One removal, for remove() and discard(). False with an exception: the call failed. */
static bool try_remove(Table *self, PyObject *item, tamis_status *ret_status) {
    Key key;
    if (!key_ready_to_write(self, item, &key)) return false;
    *ret_status = key.is_id ? tamis_remove_id(self->set, key.id)
                            : tamis_remove(self->set, key.data, key.bytes);
    key_release(&key);
    return true;
}

static PyObject *set_remove(PyObject *object, PyObject *item) {
    Table *const self = (Table *)object;
    tamis_status status;
    if (!try_remove(self, item, &status)) return NULL;
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, item);
    Py_RETURN_NONE;
}

static PyObject *set_discard(PyObject *object, PyObject *item) {
    Table *const self = (Table *)object;
    tamis_status status;
    if (!try_remove(self, item, &status)) return NULL;
    bool const is_no_error = status == TAMIS_ERR_ABSENT || status == TAMIS_ERR_SATURATED;
    if (status != TAMIS_OK && !is_no_error) return error_raise(self->core, status, NULL, item);
    return PyBool_FromLong(status == TAMIS_OK);
}

/* ------------------------------------------------------------------ whole sets */

static PyObject *set_clear(PyObject *object, PyObject *unused) {
    Table *const self = (Table *)object;
    (void)unused;
    if (!table_can_write(self)) return NULL;
    tamis_status const status = tamis_clear(self->set);
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, NULL);
    Py_RETURN_NONE;
}

static tamis_status merge(Table *into, const Table *from) {
    return tamis_merge(into->set, from->set);
}

static tamis_status subtract(Table *from, const Table *subtracted) {
    return tamis_subtract(from->set, subtracted->set);
}

/* Python may call operators with the arguments swapped, or with any object. */
static bool are_sets(PyObject *a, PyObject *b) {
    Core *const core = core_get();
    if (core == NULL) {
        PyErr_Clear();
        return false;
    }
    return PyObject_TypeCheck(a, core->set_type) && PyObject_TypeCheck(b, core->set_type);
}

static PyObject *set_ior(PyObject *into, PyObject *from) {
    if (!are_sets(into, from)) Py_RETURN_NOTIMPLEMENTED;
    return table_change_by(into, from, merge);
}

static PyObject *set_isub(PyObject *into, PyObject *from) {
    if (!are_sets(into, from)) Py_RETURN_NOTIMPLEMENTED;
    return table_change_by(into, from, subtract);
}

/* a | b is a copy of a with b merged into it. */
static PyObject *combined(PyObject *a, PyObject *b, table_change *change) {
    if (!are_sets(a, b)) Py_RETURN_NOTIMPLEMENTED;
    PyObject *const made = table_copy(a, NULL);
    if (made == NULL) return NULL;
    PyObject *const changed = table_change_by(made, b, change);
    Py_DECREF(made);
    return changed;
}

static PyObject *set_or(PyObject *a, PyObject *b) {
    return combined(a, b, merge);
}

static PyObject *set_sub(PyObject *a, PyObject *b) {
    return combined(a, b, subtract);
}

static PyObject *set_resize(PyObject *object, PyObject *argument) {
    Table *const self = (Table *)object;
    uint64_t     capacity = 0;
    if (!argument_number(self->core, argument, "capacity", &capacity) || !table_can_write(self))
        return NULL;
    tamis_status const status = tamis_resize(self->set, capacity, &capacity);
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, NULL);
    return PyLong_FromUnsignedLongLong(capacity);
}

/* ------------------------------------------------------------------ what is known */

static PyObject *set_repr(PyObject *object) {
    Facts     facts;
    Table    *self = (Table *)object;
    PyObject *name = PyType_GetQualName(Py_TYPE(object));
    if (name == NULL) return NULL;
    PyObject *text;
    if (self->set == NULL) {
        text = PyUnicode_FromFormat("<%U: closed>", name);
    } else if (table_facts(object, &facts)) {
        text = PyUnicode_FromFormat(
            "<%U: %llu keys, made for %llu, %s, %llu bytes>", name, (unsigned long long)facts.keys,
            (unsigned long long)facts.capacity, facts.kind, (unsigned long long)facts.nbytes);
    } else {
        text = NULL;
    }
    Py_DECREF(name);
    return text;
}

static PyObject *get_abilities(PyObject *object, void *unused) {
    Table *const self = (Table *)object;
    tamis_facts  facts;
    (void)unused;
    if (!table_can_read(self) || tamis_get_facts(self->set, &facts) != TAMIS_OK) return NULL;
    return record_abilities(facts.abilities);
}

static PyObject *get_info(PyObject *object, void *unused) {
    (void)unused;
    return info_of_set((Table *)object);
}

static PyGetSetDef set_attributes[] = {
    TABLE_ATTRIBUTES,
    { "abilities", get_abilities, NULL, "What it can do: 'remove', 'count', 'merge'.", NULL },
    { "info", get_info, NULL, "All that is known, as a tamis.Info. Reads the whole table.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef set_methods[] = {
    { "add", set_add, METH_O, set_add_doc },
    { "add_new", set_add_new, METH_O, set_add_new_doc },
    { "remove", set_remove, METH_O, set_remove_doc },
    { "discard", set_discard, METH_O, set_discard_doc },
    { "update", set_update, METH_O, set_update_doc },
    { "update_new", set_update_new, METH_O, set_update_new_doc },
    { "contains", set_contains_all, METH_O, set_contains_doc },
    { "remove_all", set_remove_all, METH_O, set_remove_all_doc },
    { "clear", set_clear, METH_NOARGS, set_clear_doc },
    { "copy", table_copy, METH_NOARGS, set_copy_doc },
    { "resize", set_resize, METH_O, set_resize_doc },
    { "save", file_save, METH_O, file_save_doc },
    { "open", (PyCFunction)(void (*)(void))file_open_class,
      METH_VARARGS | METH_KEYWORDS | METH_CLASS, file_open_doc },
    { "from_bytes", (PyCFunction)(void (*)(void))file_from_bytes,
      METH_VARARGS | METH_KEYWORDS | METH_CLASS, file_from_bytes_doc },
    { "close", table_close, METH_NOARGS, set_close_doc },
    { "__bytes__", file_to_bytes, METH_NOARGS, file_to_bytes_doc },
    { "__reduce__", file_reduce, METH_NOARGS, NULL },
    { "__copy__", table_copy, METH_NOARGS, NULL },
    { "__deepcopy__", table_deepcopy, METH_O, NULL },
    { "__enter__", table_enter, METH_NOARGS, NULL },
    { "__exit__", table_exit, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot set_slots[] = {
    { Py_tp_doc, (void *)(uintptr_t)set_doc },
    { Py_tp_new, table_new },
    { Py_tp_init, set_init },
    { Py_tp_dealloc, table_dealloc },
    { Py_tp_repr, set_repr },
    { Py_tp_methods, set_methods },
    { Py_tp_getset, set_attributes },
    { Py_sq_contains, set_contains },
    { Py_sq_length, table_length },
    { Py_nb_or, set_or },
    { Py_nb_subtract, set_sub },
    { Py_nb_inplace_or, set_ior },
    { Py_nb_inplace_subtract, set_isub },
    { 0, NULL },
};

PyType_Spec core_set_spec = {
    .name = "tamis.Set",
    .basicsize = sizeof(Table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = set_slots,
};
