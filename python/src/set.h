/* set.h - declarations that the files of Set and Counter share. */
#ifndef TAMIS_PYTHON_SET_H
#define TAMIS_PYTHON_SET_H

#include "batch.h"

int set_make(Table *self, set_arguments *arguments);

/* set_batch.c */
PyObject *set_update(PyObject *object, PyObject *keys);
PyObject *set_update_new(PyObject *object, PyObject *keys);
PyObject *set_contains_all(PyObject *object, PyObject *keys);
PyObject *set_remove_all(PyObject *object, PyObject *keys);
PyObject *set_counts(PyObject *object, PyObject *keys);

/* set_docs.c */
extern const char set_doc[], set_add_doc[], set_add_new_doc[], set_remove_doc[], set_discard_doc[],
    set_update_doc[], set_update_new_doc[], set_contains_doc[], set_remove_all_doc[],
    set_clear_doc[], set_copy_doc[], set_resize_doc[], set_close_doc[];
extern const char counter_doc[], counter_add_doc[], counter_update_doc[], counter_counts_doc[],
    counter_most_doc[], counter_total_doc[];

#endif
