/* machines.h - machines for tests: from a text, and those that are built in. */
#ifndef TESTS_FLOWS_MACHINES_H
#define TESTS_FLOWS_MACHINES_H

#include "machine.h"
#include "unit.h"

/* A machine from a text without a mistake. */
static __attribute__((unused)) machine read_valid(const char *text) {
    machine         m;
    machine_problem problem;
    bool const      is_fine = machine_read(text, strlen(text), &m, &problem);
    if (!is_fine) print_error("line %u: %s\n", problem.line, problem.text);
    assert_true(is_fine);
    return m;
}

static machine read_shipped(const char *name) {
    size_t          i = 0;
    machine         m;
    machine_problem problem;
    while (machine_shipped_at(i) != NULL && strcmp(machine_shipped_at(i)->name, name) != 0) i++;
    const machine_shipped *const shipped = machine_shipped_at(i);
    assert_non_null(shipped);
    assert_true(machine_read(shipped->text, shipped->n, &m, &problem));
    assert_string_equal(m.name, name);
    return m;
}

/* A text that is refused, the line that the message names, and a part of the message. */
typedef struct machine_mistake {
    const char *text;
    unsigned    line;
    const char *words;
} machine_mistake;

static __attribute__((unused)) void assert_refused(const machine_mistake *mistakes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        machine         m;
        machine_problem problem;
        assert_false(machine_read(mistakes[i].text, strlen(mistakes[i].text), &m, &problem));
        bool const is_right =
            problem.line == mistakes[i].line && strstr(problem.text, mistakes[i].words) != NULL;
        if (!is_right) print_error("case %zu: line %u: %s\n", i, problem.line, problem.text);
        assert_true(is_right);
    }
}

#endif
