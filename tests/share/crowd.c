/* crowd.c - many threads use one growing set for as long as asked: no key that stays is ever
 * missed.
 *
 *     crowd [--threads N] [--from N] [--to N] [--lookups N] [--kind NAME] [--file FILE]
 *     crowd --check FILE N       is the file whole, with the first N of the keys that stay?
 *
 * The first thread adds the keys that stay, 0, 1, 2, ... up to --to, and tells how many there are.
 * The second saves the set again and again if there is a file, else it copies it, and prints how
 * many of those keys must be in it. Of the others one in three adds keys of its own and removes
 * them again, and the rest look up keys that stay. It ends when all keys are in and --lookups
 * lookups were made. The process may be killed at any time: the file on the disk is then the last
 * one that was saved. It uses nothing of the library but the public header, so that one file of it
 * and one of the library can be compiled with ThreadSanitizer.
 */
#include "../support/dice.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>
#include <time.h>

#define BATCH 256
#define MOST_THREADS 64

typedef struct crowd {
    tamis_set  *set;
    unsigned    threads;
    uint64_t    from, to, lookups;
    const char *kind, *file;

    /* All of these are atomic. */
    uint64_t stable; /* keys that stay, and whose adds have returned */
    uint64_t asked, missed, changed, saved, longest_wait_us;
    unsigned is_over, problems;
} crowd;

typedef struct member {
    crowd    *all;
    unsigned  number;
    pthread_t thread;
} member;

static void complain(crowd *all, const char *attempt, tamis_status status) {
    (void)fprintf(stderr, "crowd: %s: %s\n", attempt, tamis_status_text(status));
    __atomic_store_n(&all->problems, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&all->is_over, 1, __ATOMIC_RELAXED);
}

static bool is_over(const crowd *all) {
    return __atomic_load_n(&all->is_over, __ATOMIC_RELAXED) != 0;
}

static uint64_t more(uint64_t *sum, uint64_t n) {
    return __atomic_add_fetch(sum, n, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ what threads do */

static uint64_t now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void add_what_stays(crowd *all) {
    uint64_t ids[BATCH];
    for (uint64_t n = 0; n < all->to && !is_over(all);) {
        size_t const size = all->to - n < BATCH ? (size_t)(all->to - n) : BATCH;
        for (size_t i = 0; i < size; i++) ids[i] = n + i;
        uint64_t const     since = now_us();
        tamis_status const status = tamis_add_id_batch(all->set, ids, size, NULL);
        uint64_t const     took = now_us() - since;
        if (status != TAMIS_OK) complain(all, "adding what stays", status);
        if (took > all->longest_wait_us) all->longest_wait_us = took; /* only this thread writes */
        n += size;
        __atomic_store_n(&all->stable, n, __ATOMIC_RELEASE);
    }
}

static void save_often(crowd *all) {
    while (!is_over(all)) {
        uint64_t const stable = __atomic_load_n(&all->stable, __ATOMIC_ACQUIRE);
        tamis_set     *copy = NULL;
        const char    *why = NULL;
        tamis_status   status =
            all->file != NULL ? tamis_save(all->set, all->file, NULL) : tamis_copy(all->set, &copy);
        if (status == TAMIS_OK && copy != NULL && !tamis_validate(copy, &why))
            status = TAMIS_ERR_CORRUPT;
        if (status != TAMIS_OK) complain(all, why != NULL ? why : "saving", status);
        tamis_free(copy);
        (void)more(&all->saved, 1);
        if (all->file == NULL) continue;
        (void)printf("saved %llu\n", (unsigned long long)stable);
        (void)fflush(stdout);
    }
}

/* Keys of this thread alone come and go. All of them must be there until they are removed, and
 * each removal must find its key. */
static void churn(crowd *all, unsigned number) {
    uint64_t      ids[BATCH], round = 0;
    bool          is_there[BATCH];
    tamis_removal removal = { .absent = 0 };
    while (!is_over(all)) {
        for (size_t i = 0; i < BATCH; i++)
            ids[i] = (uint64_t)number << 48 | round % 64 << 32 | (uint64_t)i;
        tamis_status status = tamis_add_id_batch(all->set, ids, BATCH, NULL);
        if (status != TAMIS_OK) complain(all, "adding", status);
        (void)more(&all->missed, BATCH - tamis_has_id_batch(all->set, ids, BATCH, is_there));
        status = tamis_remove_id_batch(all->set, ids, BATCH, NULL, &removal);
        if (status != TAMIS_OK) complain(all, "removing", status);
        (void)more(&all->missed, removal.absent);
        (void)more(&all->changed, 2 * BATCH);
        round++;
    }
}

static void look_up(crowd *all, unsigned number) {
    uint64_t ids[BATCH];
    dice     random = { number };
    bool     is_there[BATCH];
    while (!is_over(all)) {
        uint64_t const stable = __atomic_load_n(&all->stable, __ATOMIC_ACQUIRE);
        if (stable == 0) {
            (void)sched_yield();
            continue;
        }
        for (size_t i = 0; i < BATCH; i++) ids[i] = dice_below(&random, stable);
        size_t found = tamis_has_id_batch(all->set, ids, BATCH, is_there);
        for (size_t i = 0; i < BATCH / 8; i++) found += tamis_has_id(all->set, ids[i]);
        if (found != BATCH + BATCH / 8) (void)more(&all->missed, BATCH + BATCH / 8 - found);
        uint64_t const asked = more(&all->asked, BATCH + BATCH / 8);
        bool const     is_last = asked >= all->lookups && stable == all->to;
        if (is_last) __atomic_store_n(&all->is_over, 1, __ATOMIC_RELAXED);
    }
}

static void *work(void *context) {
    const member *const me = context;
    if (me->number == 0)
        add_what_stays(me->all);
    else if (me->number == 1)
        save_often(me->all);
    else if (me->number % 3 == 0)
        churn(me->all, me->number);
    else
        look_up(me->all, me->number);
    return NULL;
}

/* ------------------------------------------------------------------ all of it */

static bool make_set(crowd *all) {
    tamis_spec    spec = TAMIS_SPEC_INIT;
    tamis_problem problem;
    spec.capacity = all->from;
    spec.grow_to = all->to + all->to / 8 + 100000; /* keys that come and go need room, too */
    spec.fpr = 0.01;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.kind = all->kind;
    spec.shared = true;
    if (tamis_create(&spec, &all->set, &problem) == TAMIS_OK) return true;
    (void)fprintf(stderr, "crowd: %s\n", problem.text);
    return false;
}

static void tell(const crowd *all, double seconds) {
    tamis_facts facts;
    if (tamis_get_facts(all->set, &facts) != TAMIS_OK) return;
    (void)printf("%u threads, %.1f s: %llu keys stay, %llu lookups, %llu missed, %llu changes, "
                 "%llu saves, stage %u of %u, longest batch of adds %.1f ms\n",
                 all->threads, seconds, (unsigned long long)all->stable,
                 (unsigned long long)all->asked, (unsigned long long)all->missed,
                 (unsigned long long)all->changed, (unsigned long long)all->saved, facts.stage,
                 facts.stages, (double)all->longest_wait_us / 1000);
}

static int run(crowd *all) {
    static member  members[MOST_THREADS];
    uint64_t const since = now_us();
    if (!make_set(all)) return 2;
    for (unsigned i = 0; i < all->threads; i++) {
        members[i].all = all;
        members[i].number = i;
        if (pthread_create(&members[i].thread, NULL, work, &members[i]) != 0) return 2;
    }
    for (unsigned i = 0; i < all->threads; i++) (void)pthread_join(members[i].thread, NULL);
    const char *why = NULL;
    if (!tamis_validate(all->set, &why)) complain(all, why, TAMIS_ERR_CORRUPT);
    for (uint64_t id = 0; id < all->stable; id++) all->missed += !tamis_has_id(all->set, id);
    tell(all, (double)(now_us() - since) / 1e6);
    tamis_free(all->set);
    return all->missed != 0 || all->problems != 0;
}

static int check(const char *file, uint64_t n) {
    tamis_set    *set = NULL;
    tamis_problem problem;
    const char   *why = NULL;
    uint64_t      missed = 0;
    if (tamis_open(file, NULL, &set, &problem) != TAMIS_OK) {
        (void)fprintf(stderr, "crowd: %s\n", problem.text);
        return 1;
    }
    for (uint64_t id = 0; id < n; id++) missed += !tamis_has_id(set, id);
    bool const is_valid = tamis_validate(set, &why);
    (void)printf("%s: %llu of %llu keys missed, %s\n", file, (unsigned long long)missed,
                 (unsigned long long)n, is_valid ? "whole" : why);
    tamis_free(set);
    return missed != 0 || !is_valid;
}

static bool take_option(crowd *all, const char *name, const char *value) {
    uint64_t const number = strtoull(value, NULL, 10);
    if (strcmp(name, "--threads") == 0)
        all->threads = (unsigned)number;
    else if (strcmp(name, "--from") == 0)
        all->from = number;
    else if (strcmp(name, "--to") == 0)
        all->to = number;
    else if (strcmp(name, "--lookups") == 0)
        all->lookups = number;
    else if (strcmp(name, "--kind") == 0)
        all->kind = value;
    else if (strcmp(name, "--file") == 0)
        all->file = value;
    else
        return false;
    return true;
}

int main(int argc, char **argv) {
    crowd all = { .threads = 8, .from = 1000, .to = 1000000, .lookups = 1000000, .kind = "line" };
    if (argc == 4 && strcmp(argv[1], "--check") == 0)
        return check(argv[2], strtoull(argv[3], NULL, 10));
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !take_option(&all, argv[i], argv[i + 1])) {
            (void)fprintf(stderr, "crowd: %s: unknown, or without a value\n", argv[i]);
            return 2;
        }
    }
    if (all.threads < 3 || all.threads > MOST_THREADS || all.to == 0) {
        (void)fprintf(stderr, "crowd: 3 to %d threads, and keys to add\n", MOST_THREADS);
        return 2;
    }
    return run(&all);
}
