/* test_example.c - the example at the top of tamis.h, which newcomers read first, is compiled and
 * run.
 *
 * example.inc is taken from tamis.h by extract_example.py whenever the header changes, so what runs
 * here is what is printed there.
 */
#include "unit.h"

#include <tamis/tamis.h>

static unsigned n_failed, n_held;

static void example_failed(void) {
    n_failed++;
}

static void example_held(void) {
    n_held++;
}

/* "apple" is added and found; nothing fails. */
static void example_of_the_header_works(void **state) {
    (void)state;
#include "example.inc"
    assert_int_equal(n_failed, 0);
    assert_int_equal(n_held, 1);
    assert_int_equal(spec.capacity, 1000000);
    assert_int_equal(spec.abilities, TAMIS_CAN_REMOVE);
}

int main(void) {
    static const struct CMUnitTest tests[] = { cmocka_unit_test(example_of_the_header_works) };
    return unit_run("example", tests, COUNT(tests));
}
