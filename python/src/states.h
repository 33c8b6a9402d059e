/* states.h - declarations that the files of States share. */
#ifndef TAMIS_PYTHON_STATES_H
#define TAMIS_PYTHON_STATES_H

#include "batch.h"

/* Answers other than values, in arrays. The same numbers as tamis.ABSENT and tamis.UNKNOWN. */
enum { ANSWER_ABSENT = -1, ANSWER_UNKNOWN = -2 };

/* Decisions of a machine other than a value. The same numbers as in tamis/_machine.py. */
enum { DO_LEAVE = -11, DO_TOUCH = -12, DO_DROP = -13 };

/* A value of a state, or TAMIS_ANY_VALUE for None. */
bool states_value(Table *self, PyObject *object, uint64_t *ret_value);

/* states_batch.c */
PyObject *states_get_all(PyObject *object, PyObject *keys);
PyObject *states_set_all(PyObject *object, PyObject *args);
PyObject *states_put_all(PyObject *object, PyObject *args);
PyObject *states_touch_all(PyObject *object, PyObject *keys);
PyObject *states_drop_all(PyObject *object, PyObject *keys);
PyObject *states_step(PyObject *object, PyObject *args);

/* states_docs.c */
extern const char states_doc[], states_get_doc[], states_put_doc[], states_move_doc[],
    states_touch_doc[], states_drop_doc[], states_tick_doc[], states_timeout_doc[],
    states_tally_doc[], states_get_all_doc[], states_set_all_doc[], states_put_all_doc[],
    states_touch_all_doc[], states_drop_all_doc[], states_step_doc[], states_clear_doc[],
    states_copy_doc[], states_resize_doc[], states_close_doc[];

#endif
