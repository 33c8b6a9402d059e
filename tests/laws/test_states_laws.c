/* test_states_laws.c - every law of states, for every kind in every variant; arguments: see
 * run_laws.h. */
#include "life.h"
#include "run_laws.h"

int main(int argc, char **argv) {
    return run_laws(states_laws, states_subjects, 30000, argc, argv);
}
