/* arrow.c - keys in Arrow arrays: pyarrow, polars, and others with the Arrow C data interface.
 *
 * An object with __arrow_c_array__ or __arrow_c_stream__ shows its memory in the structs below,
 * which are the interface (https://arrow.apache.org/docs/format/CDataInterface.html); nothing of
 * Arrow is needed to build or to run this. Integers, strings and binary are keys, in all layouts:
 * 32-bit and 64-bit offsets, fixed width, views. A null is not a key: an array with a null is
 * refused as a whole.
 */
#include <stdlib.h>
#include <string.h>

#include "batch.h"

struct ArrowSchema {
    const char          *format;
    const char          *name;
    const char          *metadata;
    int64_t              flags;
    int64_t              n_children;
    struct ArrowSchema **children;
    struct ArrowSchema  *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t             length;
    int64_t             null_count;
    int64_t             offset;
    int64_t             n_buffers;
    int64_t             n_children;
    const void        **buffers;
    struct ArrowArray **children;
    struct ArrowArray  *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* ------------------------------------------------------------------ layouts */

#define FILL_INTEGERS(name, type)                                                            \
    static void fill_##name(const key_array *array, size_t first, size_t n, fill_room *room, \
                            Run *ret_run) {                                                  \
        const type *const from = (const type *)(const void *)array->first + first;           \
        for (size_t i = 0; i < n; i++) room->ids[i] = (uint64_t)from[i];                     \
        ret_run->ids = room->ids;                                                            \
    }
FILL_INTEGERS(i8, int8_t)
FILL_INTEGERS(u8, uint8_t)
FILL_INTEGERS(i16, int16_t)
FILL_INTEGERS(u16, uint16_t)
FILL_INTEGERS(i32, int32_t)
FILL_INTEGERS(u32, uint32_t)

static void fill_64(const key_array *array, size_t first, size_t n, fill_room *room, Run *ret_run) {
    (void)n, (void)room;
    ret_run->ids = (const uint64_t *)(const void *)array->first + first;
}

/* Element i is between offset i and offset i + 1. */
#define FILL_OFFSETS(name, type)                                                             \
    static void fill_##name(const key_array *array, size_t first, size_t n, fill_room *room, \
                            Run *ret_run) {                                                  \
        const type *const offsets = (const type *)array->offsets + first;                    \
        for (size_t i = 0; i < n; i++) {                                                     \
            room->keys[i].data = array->data + offsets[i];                                   \
            room->keys[i].bytes = (size_t)(offsets[i + 1] - offsets[i]);                     \
        }                                                                                    \
        ret_run->keys = room->keys;                                                          \
    }
FILL_OFFSETS(offsets32, int32_t)
FILL_OFFSETS(offsets64, int64_t)

static void fill_width(const key_array *array, size_t first, size_t n, fill_room *room,
                       Run *ret_run) {
    for (size_t i = 0; i < n; i++)
        room->keys[i] =
            (tamis_key){ array->data + (first + i) * array->item_bytes, array->item_bytes };
    ret_run->keys = room->keys;
}

/* A view is 16 bytes: a length, then the text itself if it has up to 12 bytes, or 4 bytes of it,
 * the number of a buffer and the position in it. */
typedef struct View {
    int32_t bytes;
    char    start[4];
    int32_t buffer, offset;
} View;

static void fill_views(const key_array *array, size_t first, size_t n, fill_room *room,
                       Run *ret_run) {
    const View *const views = (const View *)array->offsets + first;
    for (size_t i = 0; i < n; i++) {
        const char *const base =
            views[i].bytes > 12 ? (const char *)array->buffers[2 + views[i].buffer] : NULL;
        room->keys[i].data = base != NULL ? base + views[i].offset : views[i].start;
        room->keys[i].bytes = (size_t)views[i].bytes;
    }
    ret_run->keys = room->keys;
}

/* ------------------------------------------------------------------ one array */

static bool set_integers(key_array *keys, const struct ArrowArray *from, char format) {
    static const struct {
        char   format;
        size_t bytes;
        void (*fill)(const key_array *, size_t, size_t, fill_room *, Run *);
    } integers[] = { { 'c', 1, fill_i8 },  { 'C', 1, fill_u8 },  { 's', 2, fill_i16 },
                     { 'S', 2, fill_u16 }, { 'i', 4, fill_i32 }, { 'I', 4, fill_u32 },
                     { 'l', 8, fill_64 },  { 'L', 8, fill_64 } };
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        if (integers[i].format != format) continue;
        keys->first = (const char *)from->buffers[1] + (size_t)from->offset * integers[i].bytes;
        keys->fill = integers[i].fill;
        return true;
    }
    return false;
}

/* Text and binary have the same layout; the format only says what the bytes mean. */
static bool set_bytes(key_array *keys, const struct ArrowArray *from, const char *format) {
    size_t const offset = (size_t)from->offset;
    if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0) {
        keys->fill = fill_offsets32;
        keys->offsets = (const int32_t *)from->buffers[1] + offset;
        keys->data = from->buffers[2];
    } else if (strcmp(format, "U") == 0 || strcmp(format, "Z") == 0) {
        keys->fill = fill_offsets64;
        keys->offsets = (const int64_t *)from->buffers[1] + offset;
        keys->data = from->buffers[2];
    } else if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) {
        keys->fill = fill_views;
        keys->offsets = (const View *)from->buffers[1] + offset;
        keys->buffers = from->buffers;
    } else if (strncmp(format, "w:", 2) == 0) {
        keys->fill = fill_width;
        keys->item_bytes = strtoul(format + 2, NULL, 10);
        keys->data = (const char *)from->buffers[1] + offset * keys->item_bytes;
    } else {
        return false;
    }
    return true;
}

/* The index of the first null, from the bitmap in which 1 is a value; length if there is none.
 * null_count is -1 if the nulls were not counted. */
static int64_t first_null(const struct ArrowArray *array) {
    const unsigned char *const valid = array->n_buffers > 0 ? array->buffers[0] : NULL;
    if (array->null_count == 0 || valid == NULL) return array->length;
    for (int64_t i = 0; i < array->length; i++) {
        int64_t const bit = array->offset + i;
        if ((valid[bit / 8] >> (bit % 8) & 1) == 0) return i;
    }
    return array->length;
}

static bool array_do(Op *op, const struct ArrowSchema *schema, const struct ArrowArray *array) {
    Core *const   core = op->table->core;
    const char   *format = schema->format;
    key_array     keys = { .n = (size_t)array->length };
    int64_t const null = first_null(array);
    if (schema->dictionary != NULL) {
        error_format(core, "KeyTypeError",
                     "a dictionary array: take array.dictionary_decode() or its values");
        return false;
    }
    if (!(format[0] != '\0' && format[1] == '\0' && set_integers(&keys, array, format[0])) &&
        !set_bytes(&keys, array, format)) {
        error_format(
            core, "KeyTypeError",
            "Arrow arrays of format '%s' hold no keys; keys are integers, strings or binary",
            format);
        return false;
    }
    if (null < array->length) {
        error_format(core, "ArgumentError",
                     "element %lld is null, which is not a key: drop nulls first", (long long)null);
        return false;
    }
    return array->length == 0 || op_take_array(op, &keys);
}

/* ------------------------------------------------------------------ the two protocols */

/* Releasing calls foreign code, which may be Python code; our exception must survive that. */
static int release_capsules(PyObject *capsules, bool is_done) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_DECREF(capsules);
    PyErr_Restore(type, value, traceback);
    return is_done ? 1 : -1;
}

static void release_array(struct ArrowArray *array) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    array->release(array);
    PyErr_Restore(type, value, traceback);
}

static void release_schema(struct ArrowSchema *schema) {
    PyObject *type, *value, *traceback;
    if (schema->release == NULL) return;
    PyErr_Fetch(&type, &value, &traceback);
    schema->release(schema);
    PyErr_Restore(type, value, traceback);
}

/* The capsules keep the memory, and release it. */
static int capsules_do(Op *op, PyObject *keys) {
    PyObject *const pair = PyObject_CallMethod(keys, "__arrow_c_array__", NULL);
    if (pair == NULL) return -1;
    PyObject *const schema_capsule = PyTuple_GetItem(pair, 0);
    PyObject *const array_capsule = schema_capsule != NULL ? PyTuple_GetItem(pair, 1) : NULL;
    bool            is_done = false;
    if (array_capsule != NULL) {
        const struct ArrowSchema *const schema =
            PyCapsule_GetPointer(schema_capsule, "arrow_schema");
        const struct ArrowArray *const array =
            schema != NULL ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
        is_done = array != NULL && array_do(op, schema, array);
    }
    return release_capsules(pair, is_done);
}

static bool refuse_stream(Op *op, struct ArrowArrayStream *stream, int error) {
    const char *const why = stream->get_last_error(stream);
    error_format(op->table->core, "Error", "the Arrow stream failed (error %d): %s", error,
                 why != NULL ? why : "no reason given");
    return false;
}

/* Read chunk by chunk; an array that is already released marks the end. */
static bool stream_do(Op *op, struct ArrowArrayStream *stream) {
    struct ArrowSchema schema;
    int                error = stream->get_schema(stream, &schema);
    if (error != 0) return refuse_stream(op, stream, error);
    bool is_good = true;
    while (is_good) {
        struct ArrowArray array;
        error = stream->get_next(stream, &array);
        if (error != 0) is_good = refuse_stream(op, stream, error);
        if (error != 0 || array.release == NULL) break;
        is_good = array_do(op, &schema, &array);
        release_array(&array);
    }
    release_schema(&schema);
    return is_good;
}

static int stream_capsule_do(Op *op, PyObject *keys) {
    PyObject *const capsule = PyObject_CallMethod(keys, "__arrow_c_stream__", NULL);
    if (capsule == NULL) return -1;
    struct ArrowArrayStream *const stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    bool const                     is_done = stream != NULL && stream_do(op, stream);
    return release_capsules(capsule, is_done);
}

int arrow_do(Op *op, PyObject *keys) {
    if (PyObject_HasAttrString(keys, "__arrow_c_array__")) return capsules_do(op, keys);
    if (PyObject_HasAttrString(keys, "__arrow_c_stream__")) return stream_capsule_do(op, keys);
    return 0;
}
