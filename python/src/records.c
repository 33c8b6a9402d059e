/* records.c - structs of the library as objects of tamis._records: PlanRow, Info, StatesInfo. */
#include <string.h>

#include "core.h"

PyObject *record_seed(const tamis_seed *seed) {
    PyObject *const high = PyLong_FromUnsignedLongLong(seed->high);
    PyObject *const low = PyLong_FromUnsignedLongLong(seed->low);
    PyObject *const bits = PyLong_FromLong(64);
    PyObject       *number = NULL;
    if (high != NULL && low != NULL && bits != NULL) {
        PyObject *const shifted = PyNumber_Lshift(high, bits);
        number = shifted != NULL ? PyNumber_Or(shifted, low) : NULL;
        Py_XDECREF(shifted);
    }
    Py_XDECREF(high), Py_XDECREF(low), Py_XDECREF(bits);
    return number;
}

PyObject *record_abilities(unsigned abilities) {
    static const struct {
        unsigned    bit;
        const char *name;
    } names[] = { { TAMIS_CAN_REMOVE, "remove" },
                  { TAMIS_CAN_COUNT, "count" },
                  { TAMIS_CAN_MERGE, "merge" } };
    PyObject *const list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < 3; i++) {
        PyObject *const name = PyUnicode_FromString(names[i].name);
        if (name == NULL || ((abilities & names[i].bit) != 0 && PyList_Append(list, name) < 0))
            PyErr_Clear(); /* no memory: the next allocation says so */
        Py_XDECREF(name);
    }
    PyObject *const tuple = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static PyObject *geometry_of(const tamis_plan *plan) {
    PyObject *const fields = PyDict_New();
    for (unsigned i = 0; fields != NULL && i < plan->n_fields; i++) {
        PyObject *const value = PyLong_FromUnsignedLongLong(plan->fields[i].value);
        bool const      is_in =
            value != NULL && PyDict_SetItemString(fields, plan->fields[i].name, value) == 0;
        Py_XDECREF(value);
        if (is_in) continue;
        Py_DECREF(fields);
        return NULL;
    }
    return fields;
}

/* Call tamis._records.NAME(**fields); steals the reference. */
static PyObject *make_record(Core *core, const char *name, PyObject *fields) {
    PyObject *const type = fields != NULL ? PyObject_GetAttrString(core->records, name) : NULL;
    PyObject *const none = type != NULL ? PyTuple_New(0) : NULL;
    PyObject *const record = none != NULL ? PyObject_Call(type, none, fields) : NULL;
    Py_XDECREF(none), Py_XDECREF(type), Py_XDECREF(fields);
    return record;
}

typedef unsigned long long ull;

PyObject *plan_to_record(Core *core, const tamis_plan *plan) {
    PyObject *const abilities = record_abilities(plan->abilities);
    PyObject *const geometry = abilities != NULL ? geometry_of(plan) : NULL;
    if (geometry == NULL) {
        Py_XDECREF(abilities);
        return NULL;
    }
    PyObject *const fields = Py_BuildValue(
        "{s:s,s:s,s:s,s:O,s:O,s:N,s:K,s:K,s:N,s:K,s:K,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:K,s:K,s:K}",
        "kind", plan->kind, "summary", plan->summary, "problem",
        plan->status == TAMIS_OK ? "" : tamis_status_text(plan->status), "chosen",
        plan->chosen ? Py_True : Py_False, "copies_take_room",
        plan->copies_take_room ? Py_True : Py_False, "abilities", abilities, "capacity",
        (ull)plan->capacity, "lifetime", (ull)plan->lifetime, "geometry", geometry, "body_bytes",
        (ull)plan->body_bytes, "file_bytes", (ull)plan->file_bytes, "bits_per_key",
        plan->bits_per_key, "fpr", plan->fpr, "overflow", plan->overflow, "saturation",
        plan->saturation, "lines_present", plan->lines_present, "lines_absent", plan->lines_absent,
        "lines_add", plan->lines_add, "unknown", plan->unknown, "copies", (ull)plan->copies,
        "count_to", (ull)plan->count_to, "peak_bytes", (ull)plan->peak_bytes);
    return make_record(core, "PlanRow", fields);
}

static PyObject *set_record(Core *core, const tamis_info *info) {
    const tamis_facts *const facts = &info->facts;
    PyObject *const          plan = plan_to_record(core, &info->plan);
    PyObject *const          seed = plan != NULL ? record_seed(&facts->seed) : NULL;
    if (seed == NULL) {
        Py_XDECREF(plan);
        return NULL;
    }
    PyObject *const fields = Py_BuildValue(
        "{s:N,s:N,s:s,s:s,s:s,s:O,s:O,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:I,s:I,s:O,"
        "s:d,s:d,s:d,s:K}",
        "plan", plan, "seed", seed, "kind", facts->kind, "isa", facts->isa, "hash",
        facts->hash == TAMIS_HASH_SIPHASH ? "siphash" : "xxh3", "is_mapped",
        facts->is_mapped ? Py_True : Py_False, "is_huge", facts->is_huge ? Py_True : Py_False,
        "capacity", (ull)facts->capacity, "copies", (ull)facts->copies, "lifetime",
        (ull)facts->lifetime, "count_to", (ull)facts->count_to, "keys", (ull)facts->keys,
        "saturated", (ull)facts->saturated, "refused_adds", (ull)facts->refused_adds,
        "refused_removes", (ull)facts->refused_removes, "moved", (ull)facts->moved, "body_bytes",
        (ull)facts->body_bytes, "memory_bytes", (ull)facts->memory_bytes, "grow_to",
        (ull)facts->grow_to, "stage", facts->stage, "stages", facts->stages, "is_growing",
        facts->is_growing ? Py_True : Py_False, "current_fpr", info->current_fpr, "distinct",
        info->distinct, "load", info->load, "prints", (ull)info->prints);
    return make_record(core, "Info", fields);
}

PyObject *info_of_set(Table *self) {
    tamis_info   info;
    tamis_status status = TAMIS_ERR_ARGUMENT;
    guard_begin(NULL, &self->guard);
    bool const is_open = table_is_open(self);
    if (is_open) {
        Py_BEGIN_ALLOW_THREADS;
        status = tamis_inspect(self->set, &info);
        Py_END_ALLOW_THREADS;
    }
    guard_end(NULL, &self->guard);
    if (!is_open) return NULL;
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, NULL);
    return set_record(self->core, &info);
}

static PyObject *states_record(Core *core, const tamis_states_info *info) {
    PyObject *const plan = plan_to_record(core, &info->plan);
    PyObject *const seed = plan != NULL ? record_seed(&info->seed) : NULL;
    if (seed == NULL) {
        Py_XDECREF(plan);
        return NULL;
    }
    PyObject *const fields = Py_BuildValue(
        "{s:N,s:N,s:s,s:s,s:s,s:O,s:O,s:K,s:K,s:I,s:K,s:d,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}",
        "plan", plan, "seed", seed, "kind", info->plan.kind, "isa", info->isa, "hash",
        info->hash == TAMIS_HASH_SIPHASH ? "siphash" : "xxh3", "is_mapped",
        info->is_mapped ? Py_True : Py_False, "is_huge", info->is_huge ? Py_True : Py_False,
        "values", (ull)info->values, "timeout", (ull)info->timeout, "timer_bits", info->timer_bits,
        "keys", (ull)info->keys, "current_fpr", info->current_fpr, "unknown_cells",
        (ull)info->unknown_cells, "side_keys", (ull)info->side_keys, "side_room",
        (ull)info->side_room, "saturated", (ull)info->saturated, "moved", (ull)info->moved, "aged",
        (ull)info->aged, "backlog", (ull)info->backlog, "refused", (ull)info->refused, "conflicts",
        (ull)info->conflicts, "memory_bytes", (ull)info->memory_bytes);
    return make_record(core, "StatesInfo", fields);
}

PyObject *info_of_states(Table *self) {
    tamis_states_info info;
    tamis_status      status = TAMIS_ERR_ARGUMENT;
    guard_begin(NULL, &self->guard);
    bool const is_open = table_is_open(self);
    if (is_open) {
        Py_BEGIN_ALLOW_THREADS;
        status = tamis_states_inspect(self->states, &info);
        Py_END_ALLOW_THREADS;
    }
    guard_end(NULL, &self->guard);
    if (!is_open) return NULL;
    if (status != TAMIS_OK) return error_raise(self->core, status, NULL, NULL);
    return states_record(self->core, &info);
}
