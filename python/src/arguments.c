/* arguments.c - the keywords of a constructor become a spec of the library. */
#include <string.h>

#include "core.h"

static bool refuse(Core *core, const char *name, PyObject *object, const char *expected) {
    PyErr_Clear();
    error_format(core, "ArgumentError", "%s=%R: expected %s", name, object, expected);
    return false;
}

/* People write 1e6 for a million; for Python it is a float. */
bool argument_number(Core *core, PyObject *object, const char *name, uint64_t *ret_number) {
    if (object == NULL || object == Py_None) return true;
    PyObject *number;
    if (PyFloat_Check(object)) {
        double const value = PyFloat_AsDouble(object);
        if (!(value >= 0 && value < 0x1p64) || value != (double)(uint64_t)value)
            return refuse(core, name, object, "a whole number");
        number = PyLong_FromDouble(value);
    } else {
        number = PyNumber_Index(object);
    }
    if (number == NULL) return refuse(core, name, object, "a whole number");
    unsigned long long const value = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (value == (unsigned long long)-1 && PyErr_Occurred() != NULL)
        return refuse(core, name, object, "a whole number from 0 to 2**64 - 1");
    *ret_number = value;
    return true;
}

static bool argument_rate(Core *core, PyObject *object, const char *name, double *ret_rate) {
    if (object == NULL || object == Py_None) return true;
    double const rate = PyFloat_AsDouble(object);
    if (rate == -1.0 && PyErr_Occurred() != NULL) return refuse(core, name, object, "a number");
    *ret_rate = rate;
    return true;
}

static bool argument_text(Core *core, PyObject *object, const char *name, const char **ret_text) {
    if (object == NULL || object == Py_None) return true;
    if (!PyUnicode_Check(object)) return refuse(core, name, object, "a str");
    Py_ssize_t        n;
    const char *const text = PyUnicode_AsUTF8AndSize(object, &n);
    if (text == NULL) return false;
    if (strlen(text) != (size_t)n) return refuse(core, name, object, "a str without NUL");
    *ret_text = text;
    return true;
}

static bool argument_prefer(Core *core, PyObject *object, tamis_preference *ret_preference) {
    const char *text = NULL;
    if (!argument_text(core, object, "prefer", &text)) return false;
    if (text == NULL) return true;
    if (strcmp(text, "fast") == 0) {
        *ret_preference = TAMIS_PREFER_FAST;
    } else if (strcmp(text, "small") == 0) {
        *ret_preference = TAMIS_PREFER_SMALL;
    } else {
        return refuse(core, "prefer", object, "'fast' or 'small'");
    }
    return true;
}

static bool argument_hash(Core *core, PyObject *object, tamis_hash *ret_hash) {
    const char *text = NULL;
    if (!argument_text(core, object, "hash", &text)) return false;
    if (text == NULL) return true;
    if (strcmp(text, "xxh3") == 0) {
        *ret_hash = TAMIS_HASH_XXH3;
    } else if (strcmp(text, "siphash") == 0) {
        *ret_hash = TAMIS_HASH_SIPHASH;
    } else {
        return refuse(core, "hash", object, "'xxh3' or 'siphash'");
    }
    return true;
}

/* A seed is an int of up to 128 bits. */
static bool argument_seed(Core *core, PyObject *object, tamis_seed *seed,
                          const tamis_seed **ret_seed) {
    static const char expected[] = "an int from 0 to 2**128 - 1";
    if (object == NULL || object == Py_None) return true;
    if (!PyLong_Check(object)) return refuse(core, "seed", object, expected);
    PyObject *const bits = PyLong_FromLong(64);
    PyObject *const high = bits != NULL ? PyNumber_Rshift(object, bits) : NULL;
    Py_XDECREF(bits);
    if (high == NULL) return false;
    seed->low = PyLong_AsUnsignedLongLongMask(object);
    seed->high = PyLong_AsUnsignedLongLong(high); /* refuses negative and longer ones */
    Py_DECREF(high);
    if (PyErr_Occurred() != NULL) return refuse(core, "seed", object, expected);
    *ret_seed = seed;
    return true;
}

static bool argument_like(Core *core, PyObject *object, PyTypeObject *type, Table **ret_like) {
    if (object == NULL || object == Py_None) return true;
    int const is_one = PyObject_IsInstance(object, (PyObject *)type);
    if (is_one < 0) return false;
    if (is_one == 0) {
        refuse(core, "like", object, type == core->set_type ? "a tamis.Set" : "a tamis.States");
        return false;
    }
    if (!table_can_read((Table *)object)) return false; /* it may be growing in another thread */
    *ret_like = (Table *)object;
    return true;
}

/* Keywords that correspond to one field of a spec. */
typedef struct Field {
    const char *name;
    enum { NUMBER, RATE, TEXT, PREFERENCE, HASH } sort;
    size_t offset;
} Field;

#define FIELDS_OF(spec)                                                                           \
    { "capacity", NUMBER, offsetof(spec, capacity) }, { "fpr", RATE, offsetof(spec, fpr) },       \
        { "grow_to", NUMBER, offsetof(spec, grow_to) },                                           \
        { "memory", NUMBER, offsetof(spec, memory) },                                             \
        { "lifetime", NUMBER, offsetof(spec, lifetime) },                                         \
        { "overflow", RATE, offsetof(spec, overflow) },                                           \
        { "prefer", PREFERENCE, offsetof(spec, prefer) }, { "kind", TEXT, offsetof(spec, kind) }, \
        { "geometry", TEXT, offsetof(spec, geometry) }, { "isa", TEXT, offsetof(spec, isa) }, {   \
        "hash", HASH, offsetof(spec, hash)                                                        \
    }

static const Field set_fields[] = {
    FIELDS_OF(tamis_spec),
    { "copies", NUMBER, offsetof(tamis_spec, copies) },
    { "count_to", NUMBER, offsetof(tamis_spec, count_to) },
    { NULL, NUMBER, 0 },
};
static const Field states_fields[] = {
    FIELDS_OF(tamis_states_spec),
    { "values", NUMBER, offsetof(tamis_states_spec, values) },
    { "unknown", RATE, offsetof(tamis_states_spec, unknown) },
    { NULL, NUMBER, 0 },
};

static bool read_field(Core *core, const Field *field, PyObject *object, void *spec) {
    void *const place = (char *)spec + field->offset;
    switch (field->sort) {
    case NUMBER: return argument_number(core, object, field->name, place);
    case RATE: return argument_rate(core, object, field->name, place);
    case TEXT: return argument_text(core, object, field->name, place);
    case PREFERENCE: return argument_prefer(core, object, place);
    default: return argument_hash(core, object, place);
    }
}

/* Read all keywords that are a field of the spec. The caller reads those in `others`. */
static bool read_fields(Core *core, PyObject *kwargs, const Field *fields,
                        const char *const *others, void *spec) {
    PyObject  *name, *object;
    Py_ssize_t at = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &object)) {
        const Field       *found = fields;
        const char *const *other = others;
        while (found->name != NULL && PyUnicode_CompareWithASCIIString(name, found->name) != 0)
            found++;
        while (*other != NULL && PyUnicode_CompareWithASCIIString(name, *other) != 0) other++;
        if (found->name == NULL && *other == NULL) {
            PyErr_Format(PyExc_TypeError, "there is no keyword argument %R", name);
            return false;
        }
        if (found->name != NULL && !read_field(core, found, object, spec)) return false;
    }
    return true;
}

/* A keyword; NULL if it is not given, or None. */
static PyObject *given(PyObject *kwargs, const char *name) {
    PyObject *const object = kwargs != NULL ? PyDict_GetItemString(kwargs, name) : NULL;
    return object != Py_None ? object : NULL;
}

static bool read_truth(PyObject *kwargs, const char *name, unsigned ability, unsigned *abilities) {
    PyObject *const object = given(kwargs, name);
    if (object == NULL) return true;
    int const truth = PyObject_IsTrue(object);
    *abilities = truth > 0 ? *abilities | ability : *abilities & ~ability;
    return truth >= 0;
}

/* Ask for the abilities that the operators of Set need. If the caller names a kind that cannot
 * merge, the operator fails when it is used. */
static bool read_abilities(Core *core, PyObject *kwargs, int counting, tamis_spec *spec) {
    if (counting != MAY_COUNT && given(kwargs, "count") != NULL) {
        error_format(core, "ArgumentError", "count=: a tamis.Counter counts, a tamis.Set does not");
        return false;
    }
    spec->abilities = TAMIS_CAN_REMOVE | (counting == MUST_COUNT ? TAMIS_CAN_COUNT : 0u) |
                      (spec->kind == NULL ? TAMIS_CAN_MERGE : 0u);
    return read_truth(kwargs, "remove", TAMIS_CAN_REMOVE, &spec->abilities) &&
           read_truth(kwargs, "count", TAMIS_CAN_COUNT, &spec->abilities) &&
           read_truth(kwargs, "merge", TAMIS_CAN_MERGE, &spec->abilities);
}

/* Without a capacity, make room for the given keys, if they have a length. */
static bool capacity_of_keys(Core *core, PyObject *keys, tamis_spec *spec) {
    if (spec->capacity != 0 || spec->memory != 0 || spec->like != NULL) return true;
    Py_ssize_t const n = keys != NULL && keys != Py_None ? PyObject_Length(keys) : -1;
    PyErr_Clear();
    if (n < 0) {
        error_format(core, "ArgumentError",
                     "say how many different keys there will be, with capacity= (and grow_to=), or "
                     "how many bytes it may take, with memory=");
        return false;
    }
    spec->capacity = n > 0 ? (uint64_t)n : 1;
    return true;
}

/* The default false-positive rate, if neither the caller nor another argument determines it. */
static const double DEFAULT_FPR = 0.001;

bool arguments_of_set(Core *core, PyObject *args, PyObject *kwargs, int counting,
                      set_arguments *ret) {
    static const char *const others[] = {
        "remove", "count", "merge", "shared", "seed", "like", NULL
    };
    Table   *like = NULL;
    unsigned shared = 0;
    *ret = (set_arguments){ .spec = TAMIS_SPEC_INIT };
    if (!PyArg_UnpackTuple(args, "Set", 0, 1, &ret->keys) ||
        !read_fields(core, kwargs, set_fields, others, &ret->spec) ||
        !read_abilities(core, kwargs, counting, &ret->spec) ||
        !read_truth(kwargs, "shared", 1, &shared) ||
        !argument_seed(core, given(kwargs, "seed"), &ret->seed, &ret->spec.seed) ||
        !argument_like(core, given(kwargs, "like"), core->set_type, &like))
        return false;
    ret->spec.shared = shared != 0;
    if (like != NULL) ret->spec.like = like->set;
    bool const is_rate_open = ret->spec.memory != 0 || ret->spec.geometry != NULL;
    if (ret->spec.fpr == 0 && !is_rate_open) ret->spec.fpr = DEFAULT_FPR;
    return capacity_of_keys(core, ret->keys, &ret->spec);
}

/* One timeout for all values, or a sequence with one for each. */
static bool argument_timeout(Core *core, PyObject *object, states_arguments *ret) {
    if (object == NULL || !PySequence_Check(object))
        return argument_number(core, object, "timeout", &ret->spec.timeout);
    Py_ssize_t const n = PySequence_Size(object);
    if (n < 1 || n > 16 || (uint64_t)n != ret->spec.values)
        return refuse(core, "timeout", object,
                      "a number of ticks, or a list with one for each of up to 16 values");
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *const item = PySequence_GetItem(object, i);
        bool const      is_read =
            item != NULL && argument_number(core, item, "timeout", &ret->timeouts[i]);
        Py_XDECREF(item);
        if (!is_read) return false;
        if (ret->timeouts[i] > ret->spec.timeout) ret->spec.timeout = ret->timeouts[i];
    }
    ret->spec.timeouts = ret->timeouts;
    return true;
}

bool arguments_of_states(Core *core, PyObject *args, PyObject *kwargs, states_arguments *ret) {
    static const char *const others[] = { "timeout", "timer_bits", "shared", "seed", "like", NULL };
    Table                   *like = NULL;
    uint64_t                 bits = 0;
    unsigned                 shared = 0;
    *ret = (states_arguments){ .spec = TAMIS_STATES_SPEC_INIT };
    if (!PyArg_UnpackTuple(args, "States", 0, 0) ||
        !read_fields(core, kwargs, states_fields, others, &ret->spec) ||
        !argument_number(core, given(kwargs, "timer_bits"), "timer_bits", &bits) ||
        !argument_timeout(core, given(kwargs, "timeout"), ret) ||
        !read_truth(kwargs, "shared", 1, &shared) ||
        !argument_seed(core, given(kwargs, "seed"), &ret->seed, &ret->spec.seed) ||
        !argument_like(core, given(kwargs, "like"), core->states_type, &like))
        return false;
    ret->spec.shared = shared != 0;
    if (like != NULL) ret->spec.like = like->states;
    if (ret->spec.fpr == 0) ret->spec.fpr = DEFAULT_FPR;
    ret->spec.timer_bits = bits < 64 ? (unsigned)bits : 64; /* the library knows the range */
    if (like != NULL || ret->spec.values != 0) return true;
    error_format(core, "ArgumentError", "values=: say how many values a key can have, 2 or more");
    return false;
}
