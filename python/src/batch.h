/* batch.h - handle many keys without a loop in Python.
 *
 * A batch reads its keys from one of three sources: objects (a list, an iterator), memory (numpy
 * and whatever else has the buffer protocol) and Arrow. The source splits them into runs; the
 * operation (an op) handles one run at a time. Runs and operations use no Python object, so the GIL
 * is released while they work.
 */
#ifndef TAMIS_PYTHON_BATCH_H
#define TAMIS_PYTHON_BATCH_H

#include "core.h"

/* Keys in the form that the library needs: one of the two arrays is used. */
typedef struct Run {
    const tamis_key *keys;
    const uint64_t  *ids;
    size_t           n;
} Run;

typedef struct Op Op;

/* Do the operation for the next keys; op->done counts those before them. Adds the number of handled
 * keys to op->done. Called without the GIL. */
typedef tamis_status op_run(Op *op, const Run *run);

struct Op {
    op_run      *run;
    Table       *table;
    bool         writes;       /* needs exclusive access to the table */
    size_t       result_bytes; /* bytes of the result of one key; 0: no results */
    PyObject    *results;      /* a bytearray, and where its bytes are */
    char        *results_at;
    size_t       room; /* for how many keys it has room */
    size_t       done;
    size_t       limit; /* for how many keys there are values; SIZE_MAX: any number */
    tamis_status status;
    void        *context; /* of the operation */
};

/* The address for the result of the next key. */
static inline void *op_place(const Op *op) {
    return op->results_at + op->done * op->result_bytes;
}

/* Apply the operation to all keys of a Python object. False with an exception: an object that
 * cannot be a key (the keys
 * before it are done), or a status of the library, which is in op->status. */
bool batch_do(Op *op, PyObject *keys);

/* Return the results to Python: a numpy array of that type. Without numpy it is the bytearray, or a
 * memoryview of it if a result has more than one byte. */
PyObject *batch_results(Op *op, const char *numpy_type, const char *format);

/* For the sources: handle a run, with the GIL held. First makes room for the results. */
bool op_take(Op *op, const Run *run);

/* An array whose keys can be read without Python. `fill` makes a run of the keys from `first` on,
 * at most FILL_KEYS. It converts them into the two buffers, or points to them in place. */
enum { FILL_KEYS = 1024 };

typedef struct key_array key_array;
typedef struct fill_room {
    tamis_key keys[FILL_KEYS];
    uint64_t  ids[FILL_KEYS];
    char     *text; /* for keys that are converted; FILL_KEYS x key_array.text_bytes */
} fill_room;

struct key_array {
    void (*fill)(const key_array *array, size_t first, size_t n, fill_room *room, Run *ret_run);
    size_t             n;
    size_t             text_bytes;
    const char        *first; /* of memory: the first element, ... */
    ptrdiff_t          stride;
    size_t             item_bytes;
    bool               is_swapped;
    const void        *offsets; /* of Arrow: buffers */
    const char        *data;
    const void *const *buffers;
};

bool op_take_array(Op *op, const key_array *array);

/* The sources. 1: done; 0: this is not such an object; -1: exception. */
int memory_do(Op *op, PyObject *keys);
int arrow_do(Op *op, PyObject *keys);

#endif
