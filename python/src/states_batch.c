/* states_batch.c - the batches of States, and machines that are given as a table. */
#include "states.h"

#include <string.h>

/* How many keys are passed to the library at once; their values and statuses are on the stack. */
enum { PART = 512 };

typedef tamis_status states_call(tamis_states *, const tamis_states_batch *, size_t *);

/* The arguments of a batch besides its keys. */
typedef struct states_context {
    states_call    *call;
    bool            gets;   /* the results are values, not bools */
    const uint64_t *values; /* one for each key of the whole batch, or NULL: `value` for all */
    uint64_t        value;
} states_context;

static tamis_status get_batch(tamis_states *states, const tamis_states_batch *batch,
                              size_t *ret_n) {
    return tamis_states_get_batch(states, batch, ret_n);
}

static int64_t answer(tamis_status status, uint32_t value) {
    if (status == TAMIS_OK) return value;
    return status == TAMIS_ERR_ABSENT ? ANSWER_ABSENT : ANSWER_UNKNOWN;
}

static tamis_status run_part(Op *op, const Run *run) {
    const states_context *const with = op->context;
    uint32_t                    values[PART], found[PART] = { 0 };
    tamis_status                statuses[PART];
    for (size_t i = 0; i < run->n; i++)
        values[i] = (uint32_t)(with->values != NULL ? with->values[op->done + i] : with->value);
    tamis_states_batch const batch = { .keys = run->keys,
                                       .ids = run->ids,
                                       .n = run->n,
                                       .values = values,
                                       .ret_statuses = statuses,
                                       .ret_values = found };
    tamis_status const       status = with->call(op->table->states, &batch, NULL);
    if (status != TAMIS_OK) return status;
    int64_t *const answers = op_place(op);
    bool *const    are_done = op_place(op);
    for (size_t i = 0; with->gets && i < run->n; i++) answers[i] = answer(statuses[i], found[i]);
    for (size_t i = 0; !with->gets && i < run->n; i++) are_done[i] = statuses[i] == TAMIS_OK;
    op->done += run->n;
    return TAMIS_OK;
}

static tamis_status in_parts(Op *op, const Run *all, op_run *run_one) {
    for (size_t first = 0; first < all->n; first += PART) {
        size_t const left = all->n - first;
        Run const    part = { all->keys != NULL ? all->keys + first : NULL,
                           all->ids != NULL ? all->ids + first : NULL, left < PART ? left : PART };
        tamis_status const status = run_one(op, &part);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

static tamis_status run_states(Op *op, const Run *run) {
    return in_parts(op, run, run_part);
}

static PyObject *do_states(PyObject *object, PyObject *keys, states_context *with, size_t limit) {
    Op              op = { .run = run_states,
                           .table = (Table *)object,
                           .writes = !with->gets,
                           .result_bytes = with->gets ? sizeof(int64_t) : 1,
                           .limit = limit,
                           .context = with };
    PyObject *const results =
        batch_do(&op, keys) ? batch_results(&op, with->gets ? "i8" : "?", "q") : NULL;
    Py_XDECREF(op.results);
    return results;
}

PyObject *states_get_all(PyObject *object, PyObject *keys) {
    states_context with = { .call = get_batch, .gets = true };
    return do_states(object, keys, &with, SIZE_MAX);
}

PyObject *states_touch_all(PyObject *object, PyObject *keys) {
    states_context with = { .call = tamis_states_touch_batch };
    return do_states(object, keys, &with, SIZE_MAX);
}

PyObject *states_drop_all(PyObject *object, PyObject *keys) {
    states_context with = { .call = tamis_states_drop_batch };
    return do_states(object, keys, &with, SIZE_MAX);
}

/* ------------------------------------------------------------------ numbers beside the keys */

/* Values come from the same types of objects as integer keys. So they are read by a batch whose
 * operation only stores the ids. */
static tamis_status run_collect(Op *op, const Run *run) {
    if (run->ids == NULL) return TAMIS_ERR_ARGUMENT;
    memcpy(op_place(op), run->ids, run->n * sizeof *run->ids);
    op->done += run->n;
    return TAMIS_OK;
}

/* A bytearray of the numbers as 64 bits, none of them above `most`; NULL with an exception. */
static PyObject *collect(PyObject *object, PyObject *numbers, const char *name, uint64_t most,
                         size_t *ret_n) {
    Op                    op = { .run = run_collect,
                                 .table = (Table *)object,
                                 .result_bytes = sizeof(uint64_t),
                                 .limit = SIZE_MAX };
    bool                  is_good = batch_do(&op, numbers);
    const uint64_t *const all = (const uint64_t *)(const void *)op.results_at;
    for (size_t i = 0; is_good && i < op.done; i++) {
        if (all[i] <= most) continue;
        is_good = false;
        error_format(op.table->core, "ArgumentError", "%s %lld at index %zu is outside 0 to %llu",
                     name, (long long)all[i], i, (unsigned long long)most);
    }
    *ret_n = op.done;
    if (is_good) return op.results;
    Py_XDECREF(op.results);
    return NULL;
}

static bool highest_value(Table *self, uint64_t *ret_highest) {
    tamis_states_facts facts;
    if (!table_can_read(self) || tamis_states_get_facts(self->states, &facts) != TAMIS_OK)
        return false;
    *ret_highest = facts.values - 1;
    return true;
}

/* Keys with a value for each, or with one value for all. */
static PyObject *do_with_values(PyObject *object, PyObject *args, states_call *call) {
    Table *const   self = (Table *)object;
    states_context with = { .call = call };
    PyObject      *keys, *values, *collected = NULL;
    size_t         limit = SIZE_MAX;
    uint64_t       highest;
    if (!PyArg_UnpackTuple(args, "set_all", 2, 2, &keys, &values)) return NULL;
    if (!highest_value(self, &highest)) return NULL;
    if (PyIndex_Check(values) && !PyObject_CheckBuffer(values)) {
        if (!states_value(self, values, &with.value)) return NULL;
        if (with.value > highest)
            return error_format(self->core, "ArgumentError", "value %R: values are 0 to %llu",
                                values, (unsigned long long)highest);
    } else {
        collected = collect(object, values, "value", highest, &limit);
        if (collected == NULL) return NULL;
        with.values = (const uint64_t *)(const void *)PyByteArray_AsString(collected);
    }
    PyObject *const results = do_states(object, keys, &with, limit);
    Py_XDECREF(collected);
    return results;
}

PyObject *states_set_all(PyObject *object, PyObject *args) {
    return do_with_values(object, args, tamis_states_set_batch);
}

PyObject *states_put_all(PyObject *object, PyObject *args) {
    return do_with_values(object, args, tamis_states_put_batch);
}

/* ------------------------------------------------------------------ machines */

/* A machine is a table of 64-bit numbers: a row for each event, in it a column for absent keys, one
 * for unknown ones, and one for each value. A number is the next value, or DO_LEAVE, ... */
typedef struct Machine {
    const int64_t  *table;
    size_t          columns;
    const uint64_t *events; /* one for each key of the batch */
    int64_t        *before; /* for each key of this part: its value before, and the decision */
    const uint64_t *part_events;
} Machine;

static tamis_step decide(void *context, size_t i, tamis_status status, uint32_t value,
                         uint32_t *ret_to) {
    Machine *const machine = context;
    int64_t const  before = answer(status, value);
    size_t const   column = before >= 0 ? (size_t)before + 2 : (before == ANSWER_ABSENT ? 0 : 1);
    int64_t const  next = machine->table[machine->part_events[i] * machine->columns + column];
    machine->before[i] = before;
    if (next >= 0) {
        *ret_to = (uint32_t)next;
        return TAMIS_STEP_SET;
    }
    if (next == DO_TOUCH) return TAMIS_STEP_TOUCH;
    return next == DO_DROP ? TAMIS_STEP_DROP : TAMIS_STEP_LEAVE;
}

/* Results are 16 bytes: the answer before, and whether the decision could be carried out. */
typedef struct stepped {
    int64_t before, is_done;
} stepped;

static tamis_status run_step_part(Op *op, const Run *run) {
    Machine *const machine = op->context;
    tamis_status   statuses[PART];
    int64_t        before[PART];
    machine->before = before;
    machine->part_events = machine->events + op->done;
    tamis_states_batch const batch = {
        .keys = run->keys, .ids = run->ids, .n = run->n, .ret_statuses = statuses
    };
    tamis_status const status =
        tamis_states_step_batch(op->table->states, &batch, decide, machine, NULL);
    if (status != TAMIS_OK) return status;
    stepped *const results = op_place(op);
    for (size_t i = 0; i < run->n; i++)
        results[i] = (stepped){ before[i], statuses[i] == TAMIS_OK };
    op->done += run->n;
    return TAMIS_OK;
}

static tamis_status run_steps(Op *op, const Run *run) {
    return in_parts(op, run, run_step_part);
}

/* The two columns of the results, as (before, done). */
static PyObject *split_steps(Op *op) {
    struct Op            before = *op, done = *op;
    const stepped *const steps = (const stepped *)(const void *)op->results_at;
    before.result_bytes = sizeof(int64_t);
    done.result_bytes = 1;
    before.results = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(op->done * sizeof(int64_t)));
    done.results = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)op->done);
    PyObject *first = NULL, *second = NULL;
    if (before.results != NULL && done.results != NULL) {
        int64_t *const to = (int64_t *)(void *)PyByteArray_AsString(before.results);
        char *const    flags = PyByteArray_AsString(done.results);
        for (size_t i = 0; i < op->done; i++) to[i] = steps[i].before;
        for (size_t i = 0; i < op->done; i++) flags[i] = steps[i].is_done != 0;
        first = batch_results(&before, "i8", "q");
        second = first != NULL ? batch_results(&done, "?", "?") : NULL;
    }
    Py_XDECREF(before.results), Py_XDECREF(done.results);
    if (second != NULL) return Py_BuildValue("(NN)", first, second);
    Py_XDECREF(first);
    return NULL;
}

/* The table of a tamis.Machine, after a check that it is made for this many values. */
static bool read_machine(Table *self, PyObject *object, Py_buffer *view, uint64_t *ret_events) {
    uint64_t        highest, values = 0;
    PyObject *const table = PyObject_GetAttrString(object, "table");
    if (table == NULL) return false;
    bool const is_viewed = PyObject_GetBuffer(table, view, PyBUF_SIMPLE) == 0;
    Py_DECREF(table);
    if (!is_viewed) return false;
    PyObject *const number = PyObject_GetAttrString(object, "values");
    bool const      is_read = number != NULL && highest_value(self, &highest) &&
                         argument_number(self->core, number, "values", &values);
    Py_XDECREF(number);
    size_t const columns = (size_t)values + 2;
    if (is_read && values == highest + 1) {
        *ret_events = (uint64_t)view->len / (columns * sizeof(int64_t));
        return true;
    }
    if (is_read)
        error_format(self->core, "ArgumentError", "the machine is for %llu values, these have %llu",
                     (unsigned long long)values, (unsigned long long)highest + 1);
    PyBuffer_Release(view);
    return false;
}

PyObject *states_step(PyObject *object, PyObject *args) {
    Table *const self = (Table *)object;
    PyObject    *keys, *events, *given, *results = NULL;
    Py_buffer    view;
    uint64_t     n_events;
    size_t       limit;
    if (!PyArg_UnpackTuple(args, "step", 3, 3, &keys, &events, &given)) return NULL;
    if (!read_machine(self, given, &view, &n_events)) return NULL;
    PyObject *const collected = collect(object, events, "event", n_events - 1, &limit);
    if (collected != NULL) {
        Machine machine = { .table = view.buf,
                            .columns = (size_t)view.len / sizeof(int64_t) / n_events,
                            .events =
                                (const uint64_t *)(const void *)PyByteArray_AsString(collected) };
        Op      op = { .run = run_steps,
                       .table = self,
                       .writes = true,
                       .result_bytes = sizeof(stepped),
                       .limit = limit,
                       .context = &machine };
        if (batch_do(&op, keys)) results = split_steps(&op);
        Py_XDECREF(op.results);
    }
    Py_XDECREF(collected);
    PyBuffer_Release(&view);
    return results;
}
