/* attributes.c - attributes that Set, Counter and States have in common. They read no body. */
#include "attributes.h"

static bool facts_of_set(const Table *self, Facts *ret) {
    tamis_facts facts;
    if (tamis_get_facts(self->set, &facts) != TAMIS_OK) return false;
    *ret = (Facts){ .kind = facts.kind,
                    .seed = facts.seed,
                    .is_mapped = facts.is_mapped,
                    .keys = facts.keys,
                    .capacity = facts.capacity,
                    .grow_to = facts.grow_to,
                    .nbytes = facts.body_bytes };
    return true;
}

static bool facts_of_states(const Table *self, Facts *ret) {
    tamis_states_facts facts;
    if (tamis_states_get_facts(self->states, &facts) != TAMIS_OK) return false;
    *ret = (Facts){ .kind = facts.kind,
                    .seed = facts.seed,
                    .is_mapped = facts.is_mapped,
                    .keys = facts.keys,
                    .capacity = facts.capacity,
                    .grow_to = facts.grow_to,
                    .nbytes = facts.body_bytes,
                    .values = facts.values,
                    .backlog = facts.backlog };
    return true;
}

bool table_facts(PyObject *object, Facts *ret) {
    Table *const self = (Table *)object;
    if (!table_can_read(self)) return false;
    return self->set != NULL ? facts_of_set(self, ret) : facts_of_states(self, ret);
}

Py_ssize_t table_length(PyObject *object) {
    Facts facts;
    return table_facts(object, &facts) ? (Py_ssize_t)facts.keys : -1;
}

PyObject *attribute_kind(PyObject *object, void *unused) {
    Facts facts;
    (void)unused;
    return table_facts(object, &facts) ? PyUnicode_FromString(facts.kind) : NULL;
}

/* The closure is the offset of the number in Facts. */
PyObject *attribute_number(PyObject *object, void *closure) {
    Facts facts;
    if (!table_facts(object, &facts)) return NULL;
    const char *const at = (const char *)&facts + (uintptr_t)closure;
    return PyLong_FromUnsignedLongLong(*(const uint64_t *)(const void *)at);
}

PyObject *attribute_mapped(PyObject *object, void *unused) {
    Facts facts;
    (void)unused;
    return table_facts(object, &facts) ? PyBool_FromLong(facts.is_mapped) : NULL;
}

PyObject *attribute_shared(PyObject *object, void *unused) {
    (void)unused;
    return PyBool_FromLong(((Table *)object)->is_shared);
}

PyObject *attribute_seed(PyObject *object, void *unused) {
    Facts facts;
    (void)unused;
    return table_facts(object, &facts) ? record_seed(&facts.seed) : NULL;
}

PyObject *attribute_closed(PyObject *object, void *unused) {
    Table *const self = (Table *)object;
    (void)unused;
    return PyBool_FromLong(self->set == NULL && self->states == NULL);
}
