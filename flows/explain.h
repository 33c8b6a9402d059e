/* explain.h - say in words what a machine does, or draw it: tamis-flows check. */
#ifndef FLOWS_EXPLAIN_H
#define FLOWS_EXPLAIN_H

#include "machine.h"

/* As text: what it handles, its states, its rules, what is missing, and its limits. */
void explain_machine(const machine *m);

/* As a graph in the language of Graphviz. */
void explain_draw(const machine *m);

#endif
