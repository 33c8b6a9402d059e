/* key.c - read a key: bytes, str (its UTF-8) or int (its 64 bits).
 *
 * A str and the bytes of its UTF-8 are the same key. An int from -2^63 to 2^64 - 1 is taken as 64
 * bits, so -1 and 2^64 - 1 are the same key: arrays of signed and of unsigned integers are treated
 * alike.
 */
#include "core.h"

static bool refuse_int(Core *core, PyObject *object) {
    PyErr_Clear();
    error_format(core, "KeyRangeError",
                 "%R does not fit into 64 bits; take str(key) or key.to_bytes() instead", object);
    return false;
}

bool key_read_int(Core *core, PyObject *object, uint64_t *ret_id) {
    int             overflow;
    long long const number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
        *ret_id = (uint64_t)number;
        return number != -1 || PyErr_Occurred() == NULL;
    }
    if (overflow < 0) return refuse_int(core, object);
    unsigned long long const large = PyLong_AsUnsignedLongLong(object);
    if (large == (unsigned long long)-1 && PyErr_Occurred() != NULL)
        return refuse_int(core, object);
    *ret_id = large;
    return true;
}

/* numpy's integers are not Python ints, but have __index__. */
static bool read_index(Core *core, PyObject *object, Key *ret_key) {
    PyObject *const number = PyNumber_Index(object);
    if (number == NULL) return false;
    bool const is_read = key_read_int(core, number, &ret_key->id);
    Py_DECREF(number);
    ret_key->is_id = true;
    return is_read;
}

static bool read_copied(PyObject *object, Key *ret_key) {
    char      *data;
    Py_ssize_t bytes;
    ret_key->owner = PyBytes_FromObject(object);
    if (ret_key->owner == NULL) return false;
    PyBytes_AsStringAndSize(ret_key->owner, &data, &bytes); /* cannot fail: these are bytes */
    ret_key->data = data;
    ret_key->bytes = (size_t)bytes;
    return true;
}

static bool read_other(Core *core, PyObject *object, Key *ret_key) {
    if (PyByteArray_Check(object) || PyMemoryView_Check(object))
        return read_copied(object, ret_key);
    if (PyIndex_Check(object)) return read_index(core, object, ret_key);
    PyObject *const name = PyType_GetName(Py_TYPE(object));
    if (name == NULL) return false;
    error_format(core, "KeyTypeError", "a key is bytes, str or int, not %U", name);
    Py_DECREF(name);
    return false;
}

bool key_read(Core *core, PyObject *object, Key *ret_key) {
    Py_ssize_t bytes = 0;
    ret_key->owner = NULL;
    if (PyLong_Check(object)) {
        ret_key->is_id = true;
        return key_read_int(core, object, &ret_key->id);
    }
    ret_key->is_id = false;
    if (PyUnicode_Check(object)) {
        ret_key->data = PyUnicode_AsUTF8AndSize(object, &bytes);
    } else if (PyBytes_Check(object)) {
        bytes = PyBytes_Size(object);
        ret_key->data = PyBytes_AsString(object);
    } else {
        return read_other(core, object, ret_key);
    }
    ret_key->bytes = (size_t)bytes;
    return ret_key->data != NULL;
}
