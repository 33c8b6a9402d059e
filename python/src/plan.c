/* plan.c - planning without making: the rows of tamis.plan() and tamis.plan_stages(). */
#include "core.h"

enum { MAX_ROWS = 64 };

static PyObject *list_of_rows(Core *core, const tamis_plan *rows, size_t n) {
    PyObject *const list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n && i < MAX_ROWS; i++) {
        PyObject *const row = plan_to_record(core, &rows[i]);
        bool const      is_in = row != NULL && PyList_Append(list, row) == 0;
        Py_XDECREF(row);
        if (is_in) continue;
        Py_DECREF(list);
        return NULL;
    }
    return list;
}

/* If values= is given, it is a spec of states. */
static bool is_of_states(Core *core, PyObject *kwargs) {
    if (kwargs == NULL) return false;
    PyObject *const like = PyDict_GetItemString(kwargs, "like");
    if (like != NULL && PyObject_TypeCheck(like, core->states_type)) return true;
    return PyDict_GetItemString(kwargs, "values") != NULL;
}

/* The planners of the library have the same parameters for kinds and for stages. */
typedef tamis_status set_planner(const tamis_spec *, tamis_plan *, size_t, size_t *,
                                 tamis_problem *);
typedef tamis_status states_planner(const tamis_states_spec *, tamis_plan *, size_t, size_t *,
                                    tamis_problem *);

/* Plans are on the heap: 64 of them are too much for the stack of a thread. */
static PyObject *plan_by(PyObject *args, PyObject *kwargs, set_planner *plan_set,
                         states_planner *plan_states) {
    size_t           n = 0;
    tamis_problem    problem;
    tamis_status     status;
    set_arguments    of_set;
    states_arguments of_states;
    Core *const      core = core_get();
    if (core == NULL) return NULL;
    bool const is_states = is_of_states(core, kwargs);
    if (is_states ? !arguments_of_states(core, args, kwargs, &of_states)
                  : !arguments_of_set(core, args, kwargs, MAY_COUNT, &of_set))
        return NULL;
    tamis_plan *const rows = PyMem_Malloc(MAX_ROWS * sizeof *rows);
    if (rows == NULL) return PyErr_NoMemory();
    status = is_states ? plan_states(&of_states.spec, rows, MAX_ROWS, &n, &problem)
                       : plan_set(&of_set.spec, rows, MAX_ROWS, &n, &problem);
    PyObject *const made = status == TAMIS_OK ? list_of_rows(core, rows, n)
                                              : error_raise(core, status, &problem, NULL);
    PyMem_Free(rows);
    return made;
}

PyObject *plan_rows(PyObject *module, PyObject *args, PyObject *kwargs) {
    (void)module;
    return plan_by(args, kwargs, tamis_plan_kinds, tamis_states_plan_kinds);
}

PyObject *plan_stages(PyObject *module, PyObject *args, PyObject *kwargs) {
    (void)module;
    return plan_by(args, kwargs, tamis_plan_stages, tamis_states_plan_stages);
}
