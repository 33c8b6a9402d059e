/* states.c - tamis.States: keys that carry a small value, with "don't know" as an answer. */
#include "states.h"

#include "attributes.h"

static int states_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    Table *const     self = (Table *)object;
    states_arguments arguments;
    tamis_states    *made;
    tamis_problem    problem;
    if (!arguments_of_states(self->core, args, kwargs, &arguments)) return -1;
    tamis_status const status = tamis_states_create(&arguments.spec, &made, &problem);
    if (status != TAMIS_OK) {
        error_raise(self->core, status, &problem, NULL);
        return -1;
    }
    table_hold(self, NULL, made);
    self->is_shared = arguments.spec.shared;
    return 0;
}

/* ------------------------------------------------------------------ one key */

bool states_value(Table *self, PyObject *object, uint64_t *ret_value) {
    *ret_value = TAMIS_ANY_VALUE;
    if (object == NULL || object == Py_None) return true;
    if (!argument_number(self->core, object, "value", ret_value)) return false;
    if (*ret_value <= UINT32_MAX) return true;
    error_format(self->core, "ArgumentError", "value %R: there is no such value", object);
    return false;
}

/* A new reference to the answer of a lookup, or to `absent`; NULL with an exception. */
static PyObject *look_up(Table *self, PyObject *item, PyObject *absent) {
    uint32_t value;
    Key      key;
    if (!key_ready_to_read(self, item, &key)) return NULL;
    tamis_status const status = key.is_id
                                    ? tamis_states_get_id(self->states, key.id, &value)
                                    : tamis_states_get(self->states, key.data, key.bytes, &value);
    key_release(&key);
    if (status == TAMIS_OK) return PyLong_FromUnsignedLong(value);
    if (status == TAMIS_ERR_UNKNOWN) return Py_NewRef(self->core->unknown);
    if (status == TAMIS_ERR_ABSENT && absent != NULL) return Py_NewRef(absent);
    return error_raise(self->core, status, NULL, item);
}

static PyObject *states_getitem(PyObject *object, PyObject *item) {
    return look_up((Table *)object, item, NULL);
}

static PyObject *states_get(PyObject *object, PyObject *args) {
    PyObject *item, *absent = Py_None;
    if (!PyArg_UnpackTuple(args, "get", 1, 2, &item, &absent)) return NULL;
    return look_up((Table *)object, item, absent);
}

/* A key with the answer "don't know" may be in the table, so `in` says yes. */
static int states_contains(PyObject *object, PyObject *item) {
    PyObject *const answer = look_up((Table *)object, item, Py_None);
    if (answer == NULL) return -1;
    Py_DECREF(answer);
    return answer != Py_None;
}

/* Calls that change one key, and their status. */
typedef enum change { SET, PUT, MOVE, TOUCH, DROP } change;

static tamis_status change_id(tamis_states *states, change operation, uint64_t id, uint64_t from,
                              uint32_t to) {
    switch (operation) {
    case SET: return tamis_states_set_id(states, id, to);
    case PUT: return tamis_states_put_id(states, id, to);
    case MOVE: return tamis_states_move_id(states, id, from, to);
    case TOUCH: return tamis_states_touch_id(states, id);
    default: return tamis_states_drop_id(states, id, from);
    }
}

static tamis_status change_key(tamis_states *states, change operation, const Key *key,
                               uint64_t from, uint32_t to) {
    switch (operation) {
    case SET: return tamis_states_set(states, key->data, key->bytes, to);
    case PUT: return tamis_states_put(states, key->data, key->bytes, to);
    case MOVE: return tamis_states_move(states, key->data, key->bytes, from, to);
    case TOUCH: return tamis_states_touch(states, key->data, key->bytes);
    default: return tamis_states_drop(states, key->data, key->bytes, from);
    }
}

/* None is "any value" in `from`, and nothing in `to`. */
static bool change_one(PyObject *object, change operation, PyObject *item, PyObject *from,
                       PyObject *to) {
    Table *const self = (Table *)object;
    uint64_t     old, new;
    Key          key;
    if (!states_value(self, from, &old) || !states_value(self, to, &new)) return false;
    if (to != NULL && new == TAMIS_ANY_VALUE) {
        error_format(self->core, "ArgumentError", "value None: the value of a key is a number");
        return false;
    }
    if (!key_ready_to_write(self, item, &key)) return false;
    tamis_status const status =
        key.is_id ? change_id(self->states, operation, key.id, old, (uint32_t) new)
                  : change_key(self->states, operation, &key, old, (uint32_t) new);
    key_release(&key);
    if (status != TAMIS_OK) error_raise(self->core, status, NULL, item);
    return status == TAMIS_OK;
}

static int states_setitem(PyObject *object, PyObject *item, PyObject *value) {
    bool const is_done = value != NULL ? change_one(object, SET, item, NULL, value)
                                       : change_one(object, DROP, item, NULL, NULL);
    return is_done ? 0 : -1;
}

static PyObject *none_if(bool is_done) {
    return is_done ? Py_NewRef(Py_None) : NULL;
}

static PyObject *states_put(PyObject *object, PyObject *args) {
    PyObject *item, *value;
    if (!PyArg_UnpackTuple(args, "put", 2, 2, &item, &value)) return NULL;
    return none_if(change_one(object, PUT, item, NULL, value));
}

static PyObject *states_move(PyObject *object, PyObject *args) {
    PyObject *item, *from, *to;
    if (!PyArg_UnpackTuple(args, "move", 3, 3, &item, &from, &to)) return NULL;
    return none_if(change_one(object, MOVE, item, from, to));
}

static PyObject *states_touch(PyObject *object, PyObject *item) {
    return none_if(change_one(object, TOUCH, item, NULL, NULL));
}

static PyObject *states_drop(PyObject *object, PyObject *args) {
    PyObject *item, *from = NULL;
    if (!PyArg_UnpackTuple(args, "drop", 1, 2, &item, &from)) return NULL;
    return none_if(change_one(object, DROP, item, from, NULL));
}

/* ------------------------------------------------------------------ time */

static PyObject *states_tick(PyObject *object, PyObject *args) {
    Table *const self = (Table *)object;
    PyObject    *argument = NULL;
    uint64_t     ticks = 1, backlog = 0;
    if (!PyArg_UnpackTuple(args, "tick", 0, 1, &argument) ||
        !argument_number(self->core, argument, "ticks", &ticks) || !table_can_write(self))
        return NULL;
    tamis_status const status = tamis_states_tick(self->states, ticks, NULL, &backlog);
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, NULL);
    return PyLong_FromUnsignedLongLong(backlog);
}

static PyObject *states_timeout(PyObject *object, PyObject *argument) {
    Table *const      self = (Table *)object;
    uint64_t          value = 0, least, most;
    tamis_problem     problem;
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    if (!argument_number(self->core, argument, "value", &value) || !table_can_read(self))
        return NULL;
    spec.like = self->states;
    tamis_status const status = tamis_states_timeout(&spec, value, &least, &most, &problem);
    if (status != TAMIS_OK) return error_raise(self->core, status, &problem, NULL);
    return Py_BuildValue("(KK)", (unsigned long long)least, (unsigned long long)most);
}

/* ------------------------------------------------------------------ whole tables */

static PyObject *states_tally(PyObject *object, PyObject *unused) {
    Table *const self = (Table *)object;
    Facts        facts;
    (void)unused;
    if (!table_facts(object, &facts)) return NULL;
    uint64_t *const counts = PyMem_Calloc(facts.values, sizeof *counts);
    if (counts == NULL) return PyErr_NoMemory();
    tamis_status const status = tamis_states_tally(self->states, counts);
    PyObject          *list =
        status == TAMIS_OK ? PyList_New(0) : error_raise(self->core, status, NULL, NULL);
    for (uint64_t i = 0; list != NULL && i < facts.values; i++) {
        PyObject *const count = PyLong_FromUnsignedLongLong(counts[i]);
        if (count == NULL || PyList_Append(list, count) < 0) Py_CLEAR(list);
        Py_XDECREF(count);
    }
    PyMem_Free(counts);
    return list;
}

static PyObject *states_clear(PyObject *object, PyObject *unused) {
    Table *const self = (Table *)object;
    (void)unused;
    if (!table_can_write(self)) return NULL;
    tamis_status const status = tamis_states_clear(self->states);
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, NULL);
    Py_RETURN_NONE;
}

static PyObject *states_resize(PyObject *object, PyObject *argument) {
    Table *const self = (Table *)object;
    uint64_t     capacity = 0;
    if (!argument_number(self->core, argument, "capacity", &capacity) || !table_can_write(self))
        return NULL;
    tamis_status const status = tamis_states_resize(self->states, capacity, &capacity);
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, NULL);
    return PyLong_FromUnsignedLongLong(capacity);
}

static tamis_status merge(Table *into, const Table *from) {
    return tamis_states_merge(into->states, from->states);
}

static PyObject *states_ior(PyObject *into, PyObject *from) {
    Core *const core = core_get();
    if (core == NULL) return NULL;
    if (!PyObject_TypeCheck(from, core->states_type)) Py_RETURN_NOTIMPLEMENTED;
    return table_change_by(into, from, merge);
}

/* ------------------------------------------------------------------ what is known */

static PyObject *states_repr(PyObject *object) {
    Facts           facts;
    PyObject *const name = PyType_GetQualName(Py_TYPE(object));
    PyObject       *text = NULL;
    if (name == NULL) return NULL;
    if (((Table *)object)->states == NULL) {
        text = PyUnicode_FromFormat("<%U: closed>", name);
    } else if (table_facts(object, &facts)) {
        text = PyUnicode_FromFormat(
            "<%U: %llu keys of %llu values, made for %llu, %s, %llu bytes>", name,
            (unsigned long long)facts.keys, (unsigned long long)facts.values,
            (unsigned long long)facts.capacity, facts.kind, (unsigned long long)facts.nbytes);
    }
    Py_DECREF(name);
    return text;
}

static PyObject *get_info(PyObject *object, void *unused) {
    (void)unused;
    return info_of_states((Table *)object);
}

static PyGetSetDef states_attributes[] = {
    TABLE_ATTRIBUTES,
    NUMBER_ATTRIBUTE(values, "How many values there are: 0, 1, ..."),
    NUMBER_ATTRIBUTE(backlog, "Work that tick() has left."),
    { "info", get_info, NULL, "All that is known, as a tamis.StatesInfo. Reads the whole table.",
      NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef states_methods[] = {
    { "get", states_get, METH_VARARGS, states_get_doc },
    { "put", states_put, METH_VARARGS, states_put_doc },
    { "move", states_move, METH_VARARGS, states_move_doc },
    { "touch", states_touch, METH_O, states_touch_doc },
    { "drop", states_drop, METH_VARARGS, states_drop_doc },
    { "tick", states_tick, METH_VARARGS, states_tick_doc },
    { "timeout", states_timeout, METH_O, states_timeout_doc },
    { "tally", states_tally, METH_NOARGS, states_tally_doc },
    { "get_all", states_get_all, METH_O, states_get_all_doc },
    { "set_all", states_set_all, METH_VARARGS, states_set_all_doc },
    { "put_all", states_put_all, METH_VARARGS, states_put_all_doc },
    { "touch_all", states_touch_all, METH_O, states_touch_all_doc },
    { "drop_all", states_drop_all, METH_O, states_drop_all_doc },
    { "step", states_step, METH_VARARGS, states_step_doc },
    { "clear", states_clear, METH_NOARGS, states_clear_doc },
    { "copy", table_copy, METH_NOARGS, states_copy_doc },
    { "resize", states_resize, METH_O, states_resize_doc },
    { "save", file_save, METH_O, file_save_doc },
    { "open", (PyCFunction)(void (*)(void))file_open_class,
      METH_VARARGS | METH_KEYWORDS | METH_CLASS, file_open_doc },
    { "from_bytes", (PyCFunction)(void (*)(void))file_from_bytes,
      METH_VARARGS | METH_KEYWORDS | METH_CLASS, file_from_bytes_doc },
    { "close", table_close, METH_NOARGS, states_close_doc },
    { "__bytes__", file_to_bytes, METH_NOARGS, file_to_bytes_doc },
    { "__reduce__", file_reduce, METH_NOARGS, NULL },
    { "__copy__", table_copy, METH_NOARGS, NULL },
    { "__deepcopy__", table_deepcopy, METH_O, NULL },
    { "__enter__", table_enter, METH_NOARGS, NULL },
    { "__exit__", table_exit, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot states_slots[] = {
    { Py_tp_doc, (void *)(uintptr_t)states_doc },
    { Py_tp_new, table_new },
    { Py_tp_init, states_init },
    { Py_tp_dealloc, table_dealloc },
    { Py_tp_repr, states_repr },
    { Py_tp_methods, states_methods },
    { Py_tp_getset, states_attributes },
    { Py_sq_contains, states_contains },
    { Py_mp_length, table_length },
    { Py_mp_subscript, states_getitem },
    { Py_mp_ass_subscript, states_setitem },
    { Py_nb_inplace_or, states_ior },
    { 0, NULL },
};

PyType_Spec core_states_spec = {
    .name = "tamis.States",
    .basicsize = sizeof(Table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = states_slots,
};
