/* set_batch.c - the batches of Set and Counter. */
#include "set.h"

static tamis_status run_update(Op *op, const Run *run) {
    size_t             added = 0;
    tamis_status const status = run->ids != NULL
                                    ? tamis_add_id_batch(op->table->set, run->ids, run->n, &added)
                                    : tamis_add_batch(op->table->set, run->keys, run->n, &added);
    op->done += added;
    return status;
}

static tamis_status run_update_new(Op *op, const Run *run) {
    size_t             done = 0;
    bool *const        are_new = op_place(op);
    tamis_status const status =
        run->ids != NULL ? tamis_add_new_id_batch(op->table->set, run->ids, run->n, are_new, &done)
                         : tamis_add_new_batch(op->table->set, run->keys, run->n, are_new, &done);
    op->done += done;
    return status;
}

static tamis_status run_contains(Op *op, const Run *run) {
    if (run->ids != NULL) {
        tamis_has_id_batch(op->table->set, run->ids, run->n, op_place(op));
    } else {
        tamis_has_batch(op->table->set, run->keys, run->n, op_place(op));
    }
    op->done += run->n;
    return TAMIS_OK;
}

static tamis_status run_remove(Op *op, const Run *run) {
    tamis_status const status =
        run->ids != NULL
            ? tamis_remove_id_batch(op->table->set, run->ids, run->n, op_place(op), NULL)
            : tamis_remove_batch(op->table->set, run->keys, run->n, op_place(op), NULL);
    if (status == TAMIS_OK) op->done += run->n;
    return status;
}

static tamis_status run_counts(Op *op, const Run *run) {
    tamis_status const status =
        run->ids != NULL ? tamis_count_id_batch(op->table->set, run->ids, run->n, op_place(op))
                         : tamis_count_batch(op->table->set, run->keys, run->n, op_place(op));
    if (status == TAMIS_OK) op->done += run->n;
    return status;
}

PyObject *set_update(PyObject *object, PyObject *keys) {
    Op op = { .run = run_update, .table = (Table *)object, .writes = true, .limit = SIZE_MAX };
    if (!batch_do(&op, keys)) return NULL;
    Py_RETURN_NONE;
}

/* A batch with a result for each key. */
static PyObject *do_with_results(Op *op, PyObject *keys, const char *numpy_type,
                                 const char *format) {
    PyObject *const results = batch_do(op, keys) ? batch_results(op, numpy_type, format) : NULL;
    Py_XDECREF(op->results);
    return results;
}

PyObject *set_update_new(PyObject *object, PyObject *keys) {
    Op op = { .run = run_update_new,
              .table = (Table *)object,
              .writes = true,
              .result_bytes = 1,
              .limit = SIZE_MAX };
    return do_with_results(&op, keys, "?", "?");
}

PyObject *set_contains_all(PyObject *object, PyObject *keys) {
    Op op = { .run = run_contains, .table = (Table *)object, .result_bytes = 1, .limit = SIZE_MAX };
    return do_with_results(&op, keys, "?", "?");
}

PyObject *set_remove_all(PyObject *object, PyObject *keys) {
    Op op = { .run = run_remove,
              .table = (Table *)object,
              .writes = true,
              .result_bytes = 1,
              .limit = SIZE_MAX };
    return do_with_results(&op, keys, "?", "?");
}

PyObject *set_counts(PyObject *object, PyObject *keys) {
    Op op = { .run = run_counts,
              .table = (Table *)object,
              .result_bytes = sizeof(uint64_t),
              .limit = SIZE_MAX };
    return do_with_results(&op, keys, "u8", "Q");
}
