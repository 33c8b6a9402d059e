/* test_laws.c - every law of sets, for every kind in every variant; arguments: see run_laws.h. */
#include "run_laws.h"

int main(int argc, char **argv) {
    return run_laws(set_laws, subjects_all, 50000, argc, argv);
}
