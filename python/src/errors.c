/* errors.c - raise an exception for a status. The classes are in tamis/_errors.py. */
#include <stdarg.h>
#include <string.h>

#include "core.h"

/* A text that names a file may contain bytes that are not UTF-8. */
static PyObject *text_of(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* tamis._errors.make(status, text, os_error, subject, done) builds the exception, so that the
 * choice of classes is written in Python. */
static PyObject *raise(Core *core, tamis_status status, const tamis_problem *problem,
                       PyObject *subject, Py_ssize_t done) {
    bool const      is_told = problem != NULL && problem->text[0] != '\0';
    PyObject *const text = text_of(is_told ? problem->text : tamis_status_text(status));
    if (text == NULL) return NULL;
    PyObject *const made = PyObject_CallMethod(core->errors, "make", "iNiOn", (int)status, text,
                                               problem != NULL ? problem->os_error : 0,
                                               subject != NULL ? subject : Py_None, done);
    if (made == NULL) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_DECREF(made);
    return NULL;
}

PyObject *error_raise(Core *core, tamis_status status, const tamis_problem *problem,
                      PyObject *subject) {
    return raise(core, status, problem, subject, 0);
}

PyObject *error_raise_batch(Core *core, tamis_status status, size_t done) {
    return raise(core, status, NULL, NULL, (Py_ssize_t)done);
}

PyObject *error_format(Core *core, const char *name, const char *format, ...) {
    va_list         arguments;
    PyObject *const type = PyObject_GetAttrString(core->errors, name);
    if (type == NULL) return NULL;
    va_start(arguments, format);
    PyErr_FormatV(type, format, arguments);
    va_end(arguments);
    Py_DECREF(type);
    return NULL;
}
