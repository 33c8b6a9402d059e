/* test_stack.c - everything that plans or surveys fits a thread with a stack of 128 KiB, which is
 * what musl gives to threads. */
#include "unit.h"

#include <pthread.h>
#include <unistd.h>

#include <tamis/tamis.h>

#define STACK_BYTES (128 * 1024)

static void make_and_look(const char *kind, const char *path) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *set = NULL, *opened = NULL;
    tamis_info info;
    spec.kind = kind;
    spec.capacity = 1000;
    spec.fpr = 0.01;
    spec.prefer = TAMIS_PREFER_SMALL;
    assert_int_equal(tamis_create(&spec, &set, NULL), TAMIS_OK);
    for (uint64_t key = 0; key < 1000; key++) assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_true(tamis_validate(set, NULL));
    assert_int_equal(tamis_save(set, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_open(path, NULL, &opened, NULL), TAMIS_OK);
    tamis_free(opened);
    tamis_free(set);
}

static void *work(void *path) {
    tamis_spec        spec = TAMIS_SPEC_INIT;
    static tamis_plan rows[64];
    size_t            n = 0;
    spec.capacity = 100000;
    spec.fpr = 0.001;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.prefer = TAMIS_PREFER_SMALL;
    assert_int_equal(tamis_plan_kinds(&spec, rows, 64, &n, NULL), TAMIS_OK);
    for (size_t i = 0; i < n && i < 64; i++) make_and_look(rows[i].kind, path);
    make_and_look(NULL, path);
    return NULL;
}

static void a_small_stack_is_enough(void **state) {
    (void)state;
    char           path[] = "/tmp/tamis-stack-XXXXXX";
    pthread_attr_t small;
    pthread_t      thread;
    int const      file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0);
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &small, work, path), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&small);
    (void)unlink(path);
}

int main(void) {
    static const struct CMUnitTest tests[] = { cmocka_unit_test(a_small_stack_is_enough) };
    return unit_run("stack", tests, COUNT(tests));
}
