/* test_stack.c - everything fits a thread with a stack of 128 KiB, which is what musl gives to
 * threads: planning, surveys, files and streams, of sets and of states, fixed and growing. */
#include "buffer.h"
#include "make.h"
#include "temporary.h"

#include <pthread.h>
#include <unistd.h>

#define STACK_BYTES (128 * 1024)
#define KEYS 1000

/* A test that fails in a thread of its own must not jump into another one: return what failed. */
#define NEED(condition)                      \
    do {                                     \
        if (!(condition)) return #condition; \
    } while (0)

/* ------------------------------------------------------------------ sets */

static const char *send_and_receive(const tamis_set *set) {
    buffer       sent = { NULL, 0 };
    tamis_set   *received = NULL;
    tamis_status status = tamis_send(set, 0, buffer_write, &sent);
    if (status == TAMIS_OK) status = tamis_receive(sent.bytes, sent.n, NULL, &received, NULL);
    tamis_free(received);
    free(sent.bytes);
    NEED(status == TAMIS_OK || status == TAMIS_ERR_CANNOT);
    return NULL;
}

static const char *save_and_open(const tamis_set *set, const char *path) {
    tamis_set *opened = NULL;
    NEED(tamis_save(set, path, NULL) == TAMIS_OK);
    NEED(tamis_open(path, NULL, &opened, NULL) == TAMIS_OK);
    tamis_free(opened);
    return NULL;
}

static const char *use_set(tamis_set *set, const char *path) {
    tamis_info info;
    tamis_set *copy = NULL;
    for (uint64_t id = 0; id < KEYS; id++) NEED(tamis_add_id(set, id) == TAMIS_OK);
    NEED(tamis_inspect(set, &info) == TAMIS_OK);
    NEED(tamis_validate(set, NULL));
    NEED(tamis_copy(set, &copy) == TAMIS_OK);
    tamis_status const merged = tamis_merge(copy, set);
    tamis_free(copy);
    NEED(merged == TAMIS_OK || merged == TAMIS_ERR_CANNOT || merged == TAMIS_ERR_FULL);
    const char *const failed = send_and_receive(set);
    return failed != NULL ? failed : save_and_open(set, path);
}

static const char *make_and_use(const tamis_spec *spec, const char *path) {
    tamis_set *set = NULL;
    NEED(tamis_create(spec, &set, NULL) == TAMIS_OK);
    const char *const failed = use_set(set, path);
    tamis_free(set);
    return failed;
}

static const char *use_sets(const char *path) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = KEYS;
    spec.fpr = 0.01;
    spec.prefer = TAMIS_PREFER_SMALL;
    for (size_t i = 0; tamis_kind_name(i) != NULL; i++) {
        spec.kind = tamis_kind_name(i);
        const char *const failed = make_and_use(&spec, path);
        if (failed != NULL) return failed;
    }
    spec.kind = NULL;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.grow_to = 16 * KEYS;
    spec.shared = true;
    return make_and_use(&spec, path);
}

/* A plan by memory is made again and again, until it fits. */
static const char *plan_sets(void) {
    static tamis_plan rows[64];
    tamis_spec        spec = TAMIS_SPEC_INIT;
    size_t            n = 0;
    spec.capacity = 100000;
    spec.fpr = 0.001;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.prefer = TAMIS_PREFER_SMALL;
    NEED(tamis_plan_kinds(&spec, rows, 64, &n, NULL) == TAMIS_OK);
    spec.fpr = 0;
    spec.memory = 100000;
    NEED(tamis_plan_kinds(&spec, rows, 64, &n, NULL) == TAMIS_OK);
    return NULL;
}

/* ------------------------------------------------------------------ states */

static const char *use_states(tamis_states *states, const char *path) {
    tamis_states     *opened = NULL;
    tamis_states_info info;
    for (uint64_t id = 0; id < KEYS; id++) {
        tamis_status const status = tamis_states_set_id(states, id, (uint32_t)(id % 8));
        NEED(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN);
    }
    NEED(tamis_states_inspect(states, &info) == TAMIS_OK);
    NEED(tamis_states_save(states, path, NULL) == TAMIS_OK);
    NEED(tamis_states_open(path, NULL, &opened, NULL) == TAMIS_OK);
    tamis_status const merged = tamis_states_merge(opened, states);
    tamis_states_free(opened);
    NEED(merged == TAMIS_OK || merged == TAMIS_ERR_CANNOT || merged == TAMIS_ERR_FULL);
    return NULL;
}

static const char *use_all_states(const char *path) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = KEYS;
    spec.values = 8;
    spec.fpr = 0.01;
    for (size_t i = 0; tamis_states_kind_name(i) != NULL; i++) {
        tamis_states *states = NULL;
        spec.kind = tamis_states_kind_name(i);
        NEED(tamis_states_create(&spec, &states, NULL) == TAMIS_OK);
        const char *const failed = use_states(states, path);
        tamis_states_free(states);
        if (failed != NULL) return failed;
    }
    return NULL;
}

/* ------------------------------------------------------------------ the thread */

typedef struct job {
    const char *path;
    const char *failed;
} job;

static void *work(void *context) {
    job *const one = context;
    one->failed = plan_sets();
    if (one->failed == NULL) one->failed = use_sets(one->path);
    if (one->failed == NULL) one->failed = use_all_states(one->path);
    return NULL;
}

static void a_small_stack_is_enough(void **state) {
    (void)state;
    temporary const file = temporary_file();
    job             one = { .path = file.path };
    pthread_attr_t  small;
    pthread_t       thread;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &small, work, &one), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&small);
    temporary_remove(&file);
    if (one.failed != NULL) fail_msg("%s", one.failed);
}

int main(void) {
    static const struct CMUnitTest tests[] = { cmocka_unit_test(a_small_stack_is_enough) };
    return unit_run("stack", tests, COUNT(tests));
}
