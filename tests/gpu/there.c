/* there.c - see there.h. */
#include "there.h"

#include "set.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COPIES 1000
#define GUARD 64 /* bytes behind answers that must stay as they are */
#define UNTOUCHED 0xee

static void    *copies[MOST_COPIES];
static unsigned n_copies;

static void must(tamis_status status, const tamis_problem *problem) {
    if (status != TAMIS_OK) fail_msg("%s", problem->text);
}

/* Memory of the GPU with these bytes. */
static void *send(tamis_gpu *gpu, const void *from, uint64_t bytes) {
    void         *to = NULL;
    tamis_problem problem = { 0 };
    assert_true(n_copies < MOST_COPIES);
    must(tamis_gpu_get_memory(gpu, bytes, &to, &problem), &problem);
    must(tamis_gpu_send(gpu, to, from, bytes, &problem), &problem);
    copies[n_copies++] = to;
    return to;
}

static void fetch(tamis_gpu *gpu, void *to, const void *from, uint64_t bytes) {
    tamis_problem problem = { 0 };
    must(tamis_gpu_fetch(gpu, to, from, bytes, &problem), &problem);
}

tamis_gpu_keys there_keys(tamis_gpu *gpu, const uint64_t *ids, size_t n, unsigned flags) {
    bool const is_here = (flags & TAMIS_GPU_HOST) != 0 || n == 0;
    return (tamis_gpu_keys){ is_here ? ids : send(gpu, ids, 8 * n), n, flags, NULL };
}

void there_forget(tamis_gpu *gpu) {
    while (n_copies != 0) tamis_gpu_free_memory(gpu, copies[--n_copies]);
}

/* ------------------------------------------------------------------ questions */

typedef tamis_status question(const tamis_gpu_set *set, const tamis_gpu_keys *keys, void *ret,
                              tamis_problem *problem);

/* The answers are written to memory with a guard after it, on the GPU or on the host, and then
 * copied to the caller. */
static void ask(question *about, const tamis_gpu_set *set, const tamis_gpu_keys *keys, void *ret,
                size_t bytes_each) {
    bool const     is_here = (keys->flags & TAMIS_GPU_HOST) != 0;
    size_t const   bytes = keys->n * bytes_each;
    uint8_t *const here = malloc(bytes + GUARD);
    tamis_problem  problem = { 0 };
    memset(here, UNTOUCHED, bytes + GUARD);
    void *const answers = is_here ? here : send(set->gpu, here, bytes + GUARD);
    must(about(set, keys, answers, &problem), &problem);
    if (!is_here) fetch(set->gpu, here, answers, bytes + GUARD);
    for (size_t i = 0; i < GUARD; i++) assert_int_equal(here[bytes + i], UNTOUCHED);
    memcpy(ret, here, bytes);
    free(here);
}

static tamis_status about_has(const tamis_gpu_set *set, const tamis_gpu_keys *keys, void *ret,
                              tamis_problem *problem) {
    return tamis_gpu_has(set, keys, ret, problem);
}

static tamis_status about_count(const tamis_gpu_set *set, const tamis_gpu_keys *keys, void *ret,
                                tamis_problem *problem) {
    return tamis_gpu_count(set, keys, ret, problem);
}

static tamis_status about_get(const tamis_gpu_set *set, const tamis_gpu_keys *keys, void *ret,
                              tamis_problem *problem) {
    return tamis_gpu_get(set, keys, ret, problem);
}

void there_has(const tamis_gpu_set *set, const tamis_gpu_keys *keys, uint8_t *ret_has) {
    ask(about_has, set, keys, ret_has, 1);
}

void there_count(const tamis_gpu_set *set, const tamis_gpu_keys *keys, uint64_t *ret_counts) {
    ask(about_count, set, keys, ret_counts, 8);
}

void there_get(const tamis_gpu_set *set, const tamis_gpu_keys *keys, uint64_t *ret_values) {
    ask(about_get, set, keys, ret_values, 8);
}
