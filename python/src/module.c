/* module.c - tamis._core: the C half of the package. */
#include "core.h"

static struct PyModuleDef core_module;

Core *core_get(void) {
    PyObject *const module = PyImport_ImportModule("tamis._core");
    if (module == NULL) return NULL;
    Core *const state = PyModule_GetState(module);
    Py_DECREF(module); /* sys.modules and its types keep it alive */
    return state;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base) {
    PyObject *const type = PyType_FromModuleAndSpec(module, spec, (PyObject *)base);
    if (type == NULL) return NULL;
    if (PyModule_AddType(module, (PyTypeObject *)type) == 0) return (PyTypeObject *)type;
    Py_DECREF(type);
    return NULL;
}

static bool add_types(PyObject *module, Core *core) {
    core->set_type = add_type(module, &core_set_spec, NULL);
    if (core->set_type == NULL) return false;
    core->counter_type = add_type(module, &core_counter_spec, core->set_type);
    core->states_type = add_type(module, &core_states_spec, NULL);
    return core->counter_type != NULL && core->states_type != NULL;
}

static int core_exec(PyObject *module) {
    Core *const core = PyModule_GetState(module);
    core->errors = PyImport_ImportModule("tamis._errors");
    core->records = core->errors != NULL ? PyImport_ImportModule("tamis._records") : NULL;
    PyObject *const answers =
        core->records != NULL ? PyImport_ImportModule("tamis._machine") : NULL;
    if (answers == NULL) return -1;
    core->unknown = PyObject_GetAttrString(answers, "UNKNOWN");
    Py_DECREF(answers);
    if (core->unknown == NULL || !add_types(module, core)) return -1;
    return PyModule_AddStringConstant(module, "version", tamis_version());
}

static int core_traverse(PyObject *module, visitproc visit, void *arg) {
    Core *const core = PyModule_GetState(module);
    Py_VISIT(core->set_type);
    Py_VISIT(core->counter_type);
    Py_VISIT(core->states_type);
    Py_VISIT(core->errors);
    Py_VISIT(core->records);
    Py_VISIT(core->unknown);
    Py_VISIT(core->numpy);
    return 0;
}

static int core_clear(PyObject *module) {
    Core *const core = PyModule_GetState(module);
    Py_CLEAR(core->set_type);
    Py_CLEAR(core->counter_type);
    Py_CLEAR(core->states_type);
    Py_CLEAR(core->errors);
    Py_CLEAR(core->records);
    Py_CLEAR(core->unknown);
    Py_CLEAR(core->numpy);
    return 0;
}

static void core_free(void *module) {
    core_clear(module);
}

static PyObject *kind_names(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    PyObject *const list = PyList_New(0);
    const char     *name;
    for (size_t i = 0; list != NULL && (name = tamis_kind_name(i)) != NULL; i++) {
        PyObject *const text = PyUnicode_FromString(name);
        bool const      is_in = text != NULL && PyList_Append(list, text) == 0;
        Py_XDECREF(text);
        if (is_in) continue;
        Py_DECREF(list);
        return NULL;
    }
    return list;
}

static PyMethodDef core_functions[] = {
    { "open", (PyCFunction)(void (*)(void))file_open, METH_VARARGS | METH_KEYWORDS, file_open_doc },
    { "plan_rows", (PyCFunction)(void (*)(void))plan_rows, METH_VARARGS | METH_KEYWORDS, NULL },
    { "plan_stages", (PyCFunction)(void (*)(void))plan_stages, METH_VARARGS | METH_KEYWORDS, NULL },
    { "kinds", kind_names, METH_NOARGS,
      "kinds()\n--\n\nThe names of the constructions in this build." },
    { NULL, NULL, 0, NULL },
};

static PyModuleDef_Slot core_slots[] = {
    { Py_mod_exec, core_exec },
    { 0, NULL },
};

static struct PyModuleDef core_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "tamis._core",
    .m_size = sizeof(Core),
    .m_methods = core_functions,
    .m_slots = core_slots,
    .m_traverse = core_traverse,
    .m_clear = core_clear,
    .m_free = core_free,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
    return PyModuleDef_Init(&core_module);
}
