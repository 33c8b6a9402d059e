/* core_main.c - run the tests of all of src/core/, built for the instruction set CORE_ISA. */
#include "core_units.h"

#include <tamis/tamis.h>

#define MAX_TESTS 400

static bool runs_here(const char *isa) {
    const char *name;
    for (size_t i = 0; (name = tamis_isa_name(i)) != NULL; i++) {
        if (strcmp(name, isa) == 0) return true;
    }
    return false;
}

static size_t append(struct CMUnitTest *to, size_t n, unit_list list) {
    if (n + list.n > MAX_TESTS) abort();
    memcpy(to + n, list.tests, list.n * sizeof *to);
    return n + list.n;
}

int main(void) {
    struct CMUnitTest all[MAX_TESTS];
    size_t            n = 0;
    if (!runs_here(CORE_ISA)) {
        puts("1..0 # SKIP this processor does not run " CORE_ISA);
        return 0;
    }
#define CORE_APPEND(unit) n = append(all, n, core_##unit##_tests());
    CORE_UNITS(CORE_APPEND)
#undef CORE_APPEND
    return unit_run("core_" CORE_ISA, all, n);
}
