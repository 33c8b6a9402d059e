/* memory.c - keys in arrays: numpy, array.array, memoryview, anything with the buffer protocol.
 *
 * The elements are integers of 8 to 64 bits in either byte order; bytes of a fixed width, without
 * (dtype S) or with (dtype V) the zeros at their end; or text of a fixed width (dtype U). The array
 * has one dimension, and any stride.
 */
#include <string.h>

#include "batch.h"

/* ------------------------------------------------------------------ integers */

/* One function for each width and sign. The result is the 64 bits of a Python int with the same
 * value. */
#define FILL_INTEGERS(name, type, swap)                                                      \
    static void fill_##name(const key_array *array, size_t first, size_t n, fill_room *room, \
                            Run *ret_run) {                                                  \
        const char *at = array->first + (ptrdiff_t)first * array->stride;                    \
        for (size_t i = 0; i < n; i++, at += array->stride) {                                \
            type value;                                                                      \
            memcpy(&value, at, sizeof value);                                                \
            room->ids[i] = (uint64_t)(array->is_swapped ? (type)swap : value);               \
        }                                                                                    \
        ret_run->ids = room->ids;                                                            \
    }
FILL_INTEGERS(i8, int8_t, value)
FILL_INTEGERS(u8, uint8_t, value)
FILL_INTEGERS(i16, int16_t, __builtin_bswap16((uint16_t)value))
FILL_INTEGERS(u16, uint16_t, __builtin_bswap16(value))
FILL_INTEGERS(i32, int32_t, __builtin_bswap32((uint32_t)value))
FILL_INTEGERS(u32, uint32_t, __builtin_bswap32(value))
FILL_INTEGERS(u64, uint64_t, __builtin_bswap64(value))

/* Contiguous 64-bit integers can be used as ids directly. */
static void fill_in_place(const key_array *array, size_t first, size_t n, fill_room *room,
                          Run *ret_run) {
    (void)n, (void)room;
    ret_run->ids = (const uint64_t *)(const void *)(array->first + first * 8);
}

static void choose_integers(key_array *array, bool is_signed) {
    bool const is_in_place = array->item_bytes == 8 && array->stride == 8 && !array->is_swapped &&
                             (uintptr_t)array->first % _Alignof(uint64_t) == 0;
    switch (array->item_bytes) {
    case 1: array->fill = is_signed ? fill_i8 : fill_u8; break;
    case 2: array->fill = is_signed ? fill_i16 : fill_u16; break;
    case 4: array->fill = is_signed ? fill_i32 : fill_u32; break;
    default: array->fill = is_in_place ? fill_in_place : fill_u64; break;
    }
}

/* ------------------------------------------------------------------ bytes and text */

static void fill_records(const key_array *array, size_t first, size_t n, fill_room *room,
                         Run *ret_run) {
    const char *at = array->first + (ptrdiff_t)first * array->stride;
    for (size_t i = 0; i < n; i++, at += array->stride)
        room->keys[i] = (tamis_key){ at, array->item_bytes };
    ret_run->keys = room->keys;
}

/* Bytes without the zeros at the end: numpy stores b"ab" in 4 bytes as b"ab\0\0". */
static void fill_bytes(const key_array *array, size_t first, size_t n, fill_room *room,
                       Run *ret_run) {
    fill_records(array, first, n, room, ret_run);
    for (size_t i = 0; i < n; i++) {
        const char *const data = room->keys[i].data;
        while (room->keys[i].bytes > 0 && data[room->keys[i].bytes - 1] == '\0')
            room->keys[i].bytes--;
    }
}

static size_t put_utf8(char *to, uint32_t c) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | (c >> 18 & 7));
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* numpy stores text with 4 bytes per character. */
static void fill_text(const key_array *array, size_t first, size_t n, fill_room *room,
                      Run *ret_run) {
    size_t const width = array->item_bytes / 4;
    for (size_t i = 0; i < n; i++) {
        const char *const from = array->first + (ptrdiff_t)(first + i) * array->stride;
        char *const       to = room->text + i * array->text_bytes;
        size_t            bytes = 0, used = 0; /* the length without zeros at the end */
        for (size_t c = 0; c < width; c++) {
            uint32_t value;
            memcpy(&value, from + c * 4, 4);
            if (array->is_swapped) value = __builtin_bswap32(value);
            bytes += put_utf8(to + bytes, value);
            if (value != 0) used = bytes;
        }
        room->keys[i] = (tamis_key){ to, used };
    }
    ret_run->keys = room->keys;
}

/* ------------------------------------------------------------------ formats */

/* Choose by the format of the struct module: "<i", "l", "10s", "16x", "5w". False: not ours. */
static bool choose_fill(key_array *array, const char *format) {
    uint16_t const one = 1;
    bool const     is_little_here = *(const unsigned char *)&one == 1;
    if (format == NULL) format = "B";
    if (strchr("@=<>!", format[0]) != NULL && format[0] != '\0') {
        bool const is_little =
            format[0] == '<' || (format[0] != '>' && format[0] != '!' && is_little_here);
        array->is_swapped = is_little != is_little_here;
        format++;
    }
    size_t const digits = strspn(format, "0123456789");
    char const   type = format[digits];
    if (type == '\0' || format[digits + 1] != '\0') return false;
    if (type == 's' || type == 'x') {
        array->fill = type == 's' ? fill_bytes : fill_records;
    } else if (type == 'w') {
        array->fill = fill_text;
        array->text_bytes = array->item_bytes;
    } else if (digits == 0 && strchr("bBhHiIlLqQnN?", type) != NULL) {
        choose_integers(array, strchr("bhilqn", type) != NULL);
    } else {
        return false;
    }
    return true;
}

/* UTF-8 cannot encode halves of surrogate pairs; str.encode() would refuse them, too. */
static bool check_text(Core *core, const key_array *array) {
    size_t const width = array->item_bytes / 4;
    for (size_t i = 0; array->fill == fill_text && i < array->n * width; i++) {
        uint32_t value;
        memcpy(&value, array->first + (ptrdiff_t)(i / width) * array->stride + i % width * 4, 4);
        if (array->is_swapped) value = __builtin_bswap32(value);
        if (value < 0xd800 || (value >= 0xe000 && value < 0x110000)) continue;
        error_format(core, "KeyTypeError", "element %zu cannot be encoded in UTF-8", i / width);
        return false;
    }
    return true;
}

static int refuse_array(Op *op, const char *why, const char *format) {
    error_format(op->table->core, "KeyTypeError", why, format != NULL ? format : "B");
    return -1;
}

static int view_do(Op *op, const Py_buffer *view) {
    key_array array = { .first = view->buf, .item_bytes = (size_t)view->itemsize };
    if (view->ndim != 1)
        return refuse_array(op, "the keys of an array are in one dimension (format %s)",
                            view->format);
    array.n = (size_t)view->shape[0];
    array.stride = view->strides != NULL ? view->strides[0] : view->itemsize;
    if (view->suboffsets != NULL || !choose_fill(&array, view->format))
        return refuse_array(op,
                            "elements of format '%s' are no keys; keys are integers, bytes or text",
                            view->format);
    return check_text(op->table->core, &array) && op_take_array(op, &array) ? 1 : -1;
}

/* An array of objects is read like a list. */
static bool is_of_objects(const Py_buffer *view) {
    return view->format != NULL && strcmp(view->format, "O") == 0;
}

static int buffer_do(Op *op, PyObject *keys) {
    Py_buffer view;
    if (PyObject_GetBuffer(keys, &view, PyBUF_FULL_RO) < 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) return -1;
        PyErr_Clear(); /* numpy's dates, for example: try their elements as keys */
        return 0;
    }
    int const is_done = is_of_objects(&view) ? 0 : view_do(op, &view);
    PyBuffer_Release(&view);
    return is_done;
}

/* A column of pandas has no buffer, but can be converted to an array. */
static int column_do(Op *op, PyObject *keys) {
    PyObject *const array = PyObject_CallMethod(keys, "__array__", NULL);
    if (array == NULL) return -1;
    int const is_done = PyObject_CheckBuffer(array) ? buffer_do(op, array) : 0;
    Py_DECREF(array);
    return is_done;
}

int memory_do(Op *op, PyObject *keys) {
    if (PyObject_CheckBuffer(keys)) return buffer_do(op, keys);
    return PyObject_HasAttrString(keys, "__array__") ? column_do(op, keys) : 0;
}
