/* test_here.c - libtamis-gpu.so on this machine, with a GPU or without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <tamis/gpu.h>

/* Opening works, or the problem says in a sentence what is missing. */
static void test_open(void **unused) {
    (void)unused;
    tamis_gpu         *gpu = NULL;
    tamis_problem      problem = { .text = "" };
    tamis_status const status = tamis_gpu_open(0, &gpu, &problem);
    if (status == TAMIS_OK) {
        tamis_gpu_facts facts;
        assert_int_equal(tamis_gpu_describe(gpu, &facts), TAMIS_OK);
        print_message("# this machine has a GPU: %s\n", facts.name);
        assert_true(facts.capability >= 70 && facts.memory_bytes > 0);
        tamis_gpu_close(gpu);
        return;
    }
    print_message("# this machine: %s\n", problem.text);
    assert_int_equal(status, TAMIS_ERR_CANNOT);
    assert_int_equal(problem.status, TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "there is no"));
    assert_null(gpu);
}

static void test_arguments(void **unused) {
    (void)unused;
    tamis_gpu *gpu;
    assert_int_equal(tamis_gpu_open(0, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_gpu_open(-1, &gpu, NULL), TAMIS_ERR_ARGUMENT);
    tamis_gpu_close(NULL);
    tamis_gpu_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_open),
                                        cmocka_unit_test(test_arguments) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
