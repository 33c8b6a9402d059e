/* steps.h - three threads as fibers that stop before each access to memory that they share.
 *
 * The compiler calls a function here before each access (watched.c).
 * A step of a fiber is one such access and all that follows up to the next one. Between two steps
 * the world can be packed into bytes, and unpacked again: the arena, which has the set and all
 * that belongs to it, and of each fiber its registers and its stack. every.c says what this is for.
 *
 * Which words are shared?
 * -----------------------
 * For each word of the arena and each fiber, this notes how late the fiber has read it and written
 * it, in all orders so far; time is counted in writes of that fiber. A fiber stops before it reads
 * a word that another one may still write, and before it writes a word that another one may still
 * read or write. All other accesses commute with whatever the others will do, so it goes on. If
 * something is noted anew, the orders so far may have had too few stops (every.c).
 *
 * An access to several words is made in a step for each of them: a load gets the values that were
 * there in each of these steps; a store is taken back, and made again word by word.
 */
#ifndef EXPLORE_STEPS_H
#define EXPLORE_STEPS_H

#include "watch.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define FIBERS 3
#define READER 2 /* the last one only reads */
#define STACK_BYTES (64 << 10)
#define ARENA_BYTES (256 << 10)
#define ARENA_WORDS (ARENA_BYTES / 8)
#define MOST_OLD 512
#define WIDE_WORDS 512 /* that one access may touch: copies of structs */

typedef struct fiber {
    jmp_buf  at;
    uint8_t *bottom; /* of the part of its stack that is in use */
    uint64_t word;   /* that it accesses in its next step; ARENA_WORDS: none */
    bool     is_done, is_waiting;
    bool     is_write;
    uint16_t writes;    /* that it has done */
    bool     has_tried; /* in vain, and nobody has written anything since then */
} fiber;

/* A value that a word had, and that the reader may still see. */
typedef struct old_value {
    uint64_t word, value;
} old_value;

/* A word that has another value for one load, and what it has in truth. */
typedef struct loan {
    uint64_t word, truth;
} loan;

/* Bytes of the arena. */
typedef struct span {
    uint64_t from, n;
} span;

typedef struct outcome {
    const char *problem;
} outcome;

unsigned explore_fault;

static struct {
    fiber     fibers[FIBERS];
    jmp_buf   home;
    unsigned  now; /* the fiber that runs */
    bool      is_on;
    bool      is_loose; /* loads of the reader may be reordered */
    outcome   outcome;
    size_t    used;         /* of the arena */
    unsigned  owner, depth; /* of the mutex; depth 0: free */
    old_value old[MOST_OLD];
    unsigned  n_old;
    loan      lent[WIDE_WORDS]; /* to be given back before anything else */
    unsigned  n_lent;
    span      stored; /* several words that were stored at once; see store_again() */
    uint64_t  before[WIDE_WORDS];
} world;

/* When a fiber reads and writes a word for the last time, in all orders so far: 1 + how often it
 * has written something before that; 0: never. */
static struct {
    uint16_t read[FIBERS][ARENA_WORDS], written[FIBERS][ARENA_WORDS];
    bool     is_new;
    uint64_t packed[ARENA_WORDS], n_packed;   /* all words that are written */
    bool     is_packed[ARENA_WORDS], is_late; /* a word is written that is not packed */
} notes;

static _Alignas(64) uint64_t arena[ARENA_WORDS];
static _Alignas(64) uint8_t stacks[FIBERS][STACK_BYTES];

static void expect(bool is_so, const char *rule) {
    if (!is_so && world.outcome.problem == NULL) world.outcome.problem = rule;
}

static void stop_all(const char *why) {
    (void)fprintf(stderr, "every: %s\n", why);
    exit(2);
}

/* ------------------------------------------------------------------ switching */

#if defined(__x86_64__)
#define STACK_POINTER(to) __asm__ volatile("mov %%rsp, %0" : "=r"(to))
#elif defined(__aarch64__)
#define STACK_POINTER(to) __asm__ volatile("mov %0, sp" : "=r"(to))
#else /* a little too much is as good, but more states differ */
#define STACK_POINTER(to) ((to) = (uint8_t *)__builtin_frame_address(0) - 512)
#endif

/* Let the explorer decide who goes on. Once this returns, nobody else runs until the next call. */
static __attribute__((noinline)) void stop_here(void) {
    fiber *const me = &world.fibers[world.now];
    STACK_POINTER(me->bottom);
    if (_setjmp(me->at) == 0) _longjmp(world.home, 1);
}

static __attribute__((noinline)) void fiber_resume(unsigned which) {
    world.now = which;
    world.is_on = true;
    if (_setjmp(world.home) == 0) _longjmp(world.fibers[which].at, 1);
    world.is_on = false;
}

/* From its beginning to its first step. */
static __attribute__((noinline)) void fiber_begin(unsigned which, void (*run)(int)) {
    static ucontext_t start;
    (void)getcontext(&start);
    start.uc_stack.ss_sp = stacks[which];
    start.uc_stack.ss_size = STACK_BYTES;
    start.uc_link = NULL;
    makecontext(&start, (void (*)(void))run, 1, (int)which);
    world.now = which;
    world.is_on = true;
    if (_setjmp(world.home) == 0) (void)setcontext(&start);
    world.is_on = false;
}

static void fiber_begin_all(void (*run)(int)) {
    memset(world.fibers, 0, sizeof world.fibers);
    memset(stacks, 0, sizeof stacks);
    memset(&world.outcome, 0, sizeof world.outcome);
    world.n_old = world.depth = 0;
    for (unsigned i = 0; i < FIBERS; i++) fiber_begin(i, run);
}

/* ------------------------------------------------------------------ accesses */

/* Will another fiber access the word in a way that does not commute? */
static bool is_contested(unsigned mine, uint64_t word, bool is_write) {
    for (unsigned i = 0; i < FIBERS; i++) {
        if (i == mine || world.fibers[i].is_done) continue;
        uint16_t const writes = world.fibers[i].writes;
        if (notes.written[i][word] > writes || (is_write && notes.read[i][word] > writes))
            return true;
    }
    return false;
}

static void note(uint64_t word, bool is_write) {
    notes.is_late |= is_write && !notes.is_packed[word];
    uint16_t *const last =
        is_write ? &notes.written[world.now][word] : &notes.read[world.now][word];
    uint16_t const mine = world.fibers[world.now].writes + 1;
    if (*last >= mine) return;
    notes.is_new = true;
    *last = mine;
}

/* The values of a word before a write, which the reader may see as long as it has no fence. They
 * are sorted, so that equal worlds have equal bytes. */
static void keep_old(uint64_t word) {
    if (!world.is_loose || world.now == READER || notes.read[READER][word] == 0) return;
    old_value const one = { word, arena[word] };
    unsigned        i = 0;
    while (i < world.n_old && (world.old[i].word < word ||
                               (world.old[i].word == word && world.old[i].value < one.value)))
        i++;
    if (i < world.n_old && world.old[i].word == word && world.old[i].value == one.value) return;
    if (world.n_old == MOST_OLD) stop_all("too many old values");
    memmove(&world.old[i + 1], &world.old[i], (world.n_old - i) * sizeof one);
    world.old[i] = one;
    world.n_old++;
}

/* May the reader load an old value of the word? */
static bool has_old(uint64_t word) {
    for (unsigned i = 0; i < world.n_old && world.now == READER; i++) {
        if (world.old[i].word == word) return true;
    }
    return false;
}

/* What another fiber waits for may have come. */
static void wake_others(void) {
    for (unsigned i = 0; i < FIBERS; i++) {
        if (i != world.now) world.fibers[i].is_waiting = world.fibers[i].has_tried = false;
    }
}

static bool is_own_stack(const void *at) {
    const uint8_t *const own = stacks[world.now];
    return (const uint8_t *)at >= own && (const uint8_t *)at < own + STACK_BYTES;
}

static void stop_before(uint64_t word, bool is_write) {
    fiber *const me = &world.fibers[world.now];
    me->word = word;
    me->is_write = is_write;
    stop_here();
}

/* Words that were lent get their true values back. */
static void take_back(void) {
    while (world.n_lent != 0) {
        world.n_lent--;
        arena[world.lent[world.n_lent].word] = world.lent[world.n_lent].truth;
    }
}

static void lend(uint64_t word, uint64_t value) {
    world.lent[world.n_lent++] = (loan){ word, arena[word] };
    arena[word] = value;
}

static uint64_t word_of(uint64_t byte) {
    return byte / 8;
}

static bool is_shared_load(uint64_t word) {
    return is_contested(world.now, word, false) || has_old(word);
}

/* A load of several words: each is read in a step of its own, and then all are lent for the load
 * that the compiler made. */
static void load_each(span part) {
    uint64_t const first = word_of(part.from), n = word_of(part.from + part.n - 1) - first + 1;
    uint64_t       values[n];
    if (n > WIDE_WORDS) stop_all("a wide load");
    for (uint64_t i = 0; i < n; i++) {
        if (is_shared_load(first + i)) stop_before(first + i, false);
        values[i] = arena[first + i];
        take_back();
    }
    for (uint64_t i = 0; i < n; i++) lend(first + i, values[i]);
}

static void begin_store(uint64_t word) {
    note(word, true);
    if (is_contested(world.now, word, true)) stop_before(word, true);
    world.fibers[world.now].writes++;
    wake_others();
    keep_old(word);
}

/* A store of several words was made at once: take it back, and make it again in a step for each
 * word. */
static void store_again(void) {
    span const     part = world.stored;
    uint64_t const first = word_of(part.from), last = word_of(part.from + part.n - 1);
    uint8_t        values[part.n];
    memcpy(values, (uint8_t *)arena + part.from, part.n);
    memcpy(&arena[first], world.before, (last - first + 1) * 8);
    world.stored.n = 0;
    for (uint64_t at = part.from, n; at < part.from + part.n; at += n) {
        uint64_t const room = 8 - at % 8, left = part.from + part.n - at;
        n = left < room ? left : room;
        begin_store(word_of(at));
        memcpy((uint8_t *)arena + at, values + (at - part.from), n);
    }
}

/* What is left of the access before: now its load or store has been made. */
static void settle(void) {
    take_back();
    if (world.stored.n != 0) store_again();
}

/* The fiber is about to access n bytes. */
static void touch(const void *at, size_t n, bool is_write) {
    if (!world.is_on) return;
    settle();
    span const part = { (uintptr_t)at - (uintptr_t)arena, n };
    if (part.from >= sizeof arena) {
        if (is_write && !is_own_stack(at)) stop_all("a write to memory that is not in the arena");
        return;
    }
    uint64_t const first = word_of(part.from), last = word_of(part.from + n - 1);
    for (uint64_t word = first; word <= last && !is_write; word++) note(word, false);
    if (first == last && is_write) {
        begin_store(first);
    } else if (is_write) {
        if (last - first >= WIDE_WORDS) stop_all("a wide store");
        world.stored = part;
        memcpy(world.before, &arena[first], (last - first + 1) * 8);
    } else if (first == last) {
        if (is_shared_load(first)) stop_before(first, false);
    } else {
        load_each(part);
    }
}

static void fiber_end(void) {
    settle();
    world.fibers[world.now].is_done = true;
    world.fibers[world.now].bottom = stacks[world.now] + STACK_BYTES;
    _longjmp(world.home, 1);
}

/* What the reader loads from here on is not older. */
static void forget_old(void) {
    if (world.now == READER) world.n_old = 0;
}

void explore_fence(void) {
    if (world.is_on) forget_old();
}

/* A loop that waits: the fiber tries once more, and if that was in vain, too, it waits until
 * somebody writes. A try in which the reader may have seen old values does not count. */
void explore_wait(void) {
    fiber *const me = &world.fibers[world.now];
    if (!world.is_on) return;
    settle();
    bool const is_sure = world.now != READER || world.n_old == 0;
    me->is_waiting = me->has_tried && is_sure;
    me->has_tried = is_sure;
    me->word = ARENA_WORDS;
    if (me->is_waiting) stop_here();
}

/* ------------------------------------------------------------------ what the compiler calls */

#define HOOK_READ(name, n)         \
    void __tsan_##name(void *at);  \
    void __tsan_##name(void *at) { \
        touch(at, n, false);       \
    }
#define HOOK_WRITE(name, n)        \
    void __tsan_##name(void *at);  \
    void __tsan_##name(void *at) { \
        touch(at, n, true);        \
    }
HOOK_READ(read1, 1)
HOOK_READ(read2, 2)
HOOK_READ(read4, 4)
HOOK_READ(read8, 8)
HOOK_READ(read16, 16)
HOOK_READ(unaligned_read2, 2)
HOOK_READ(unaligned_read4, 4)
HOOK_READ(unaligned_read8, 8)
HOOK_READ(unaligned_read16, 16)
HOOK_WRITE(write1, 1)
HOOK_WRITE(write2, 2)
HOOK_WRITE(write4, 4)
HOOK_WRITE(write8, 8)
HOOK_WRITE(write16, 16)
HOOK_WRITE(unaligned_write2, 2)
HOOK_WRITE(unaligned_write4, 4)
HOOK_WRITE(unaligned_write8, 8)
HOOK_WRITE(unaligned_write16, 16)

void __tsan_init(void);
void __tsan_init(void) {
}

void __tsan_read_range(void *at, size_t n);
void __tsan_read_range(void *at, size_t n) {
    if (n != 0) touch(at, n, false);
}

void __tsan_write_range(void *at, size_t n);
void __tsan_write_range(void *at, size_t n) {
    if (n != 0) touch(at, n, true);
}

/* Atomic operations. An acquiring load is always of the present value, and so is one that writes;
 * after it nothing older is seen. */
#define HOOK_ATOMICS(bits)                                                                         \
    uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *at, int order);                \
    uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *at, int order) {               \
        touch(at, bits / 8, false);                                                                \
        if (order != __ATOMIC_RELAXED) {                                                           \
            take_back();                                                                           \
            forget_old();                                                                          \
        }                                                                                          \
        return *at;                                                                                \
    }                                                                                              \
    void __tsan_atomic##bits##_store(uint##bits##_t *at, uint##bits##_t value, int order);         \
    void __tsan_atomic##bits##_store(uint##bits##_t *at, uint##bits##_t value, int order) {        \
        (void)order;                                                                               \
        touch(at, bits / 8, true);                                                                 \
        *at = value;                                                                               \
    }                                                                                              \
    HOOK_CHANGE(bits, exchange, value)                                                             \
    HOOK_CHANGE(bits, fetch_add, before + value)                                                   \
    HOOK_CHANGE(bits, fetch_sub, before - value)                                                   \
    int __tsan_atomic##bits##_compare_exchange_strong(                                             \
        uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, int order, int other); \
    int __tsan_atomic##bits##_compare_exchange_strong(                                             \
        uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, int order,             \
        int other) {                                                                               \
        (void)order;                                                                               \
        (void)other;                                                                               \
        touch(at, bits / 8, true);                                                                 \
        forget_old();                                                                              \
        uint##bits##_t const before = *at;                                                         \
        bool const           is_same = before == *expected;                                        \
        if (is_same) *at = value;                                                                  \
        *expected = before;                                                                        \
        return is_same;                                                                            \
    }

#define HOOK_CHANGE(bits, name, after)                                                    \
    uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *at, uint##bits##_t value, \
                                                int order);                               \
    uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *at, uint##bits##_t value, \
                                                int order) {                              \
        (void)order;                                                                      \
        touch(at, bits / 8, true);                                                        \
        forget_old();                                                                     \
        uint##bits##_t const before = *at;                                                \
        *at = after;                                                                      \
        return before;                                                                    \
    }

HOOK_ATOMICS(32)
HOOK_ATOMICS(64)

/* ------------------------------------------------------------------ in place of the C library */

static size_t up_to_word(const void *at, size_t n) {
    size_t const room = 8 - (uintptr_t)at % 8;
    return n < room ? n : room;
}

void explore_clear(void *at, size_t n) {
    memset(at, 0, n);
}

/* Words, or parts of them at both ends: first all loads, then all stores. */
void explore_copy(void *to, const void *from, size_t n) {
    uint8_t between[n != 0 && world.is_on ? n : 1];
    if (!world.is_on) memmove(to, from, n);
    for (size_t at = 0, part; at < n && world.is_on; at += part) {
        part = up_to_word((const uint8_t *)from + at, n - at);
        touch((const uint8_t *)from + at, part, false);
        memcpy(between + at, (const uint8_t *)from + at, part);
    }
    for (size_t at = 0, part; at < n && world.is_on; at += part) {
        part = up_to_word((uint8_t *)to + at, n - at);
        touch((uint8_t *)to + at, part, true);
        memcpy((uint8_t *)to + at, between + at, part);
    }
}

void explore_fill(void *to, int byte, size_t n) {
    for (size_t at = 0, part; at < n; at += part) {
        part = up_to_word((uint8_t *)to + at, n - at);
        touch((uint8_t *)to + at, part, true);
        memset((uint8_t *)to + at, byte, part);
    }
}

/* The only mutex of a run is that of its set. */
int explore_try_lock(pthread_mutex_t *mutex) {
    if (!world.is_on) return 0;
    touch(mutex, 1, false);
    if (world.depth != 0 && world.owner != world.now) return 1;
    touch(mutex, 1, true);
    if (world.depth != 0 && world.owner != world.now) return 1;
    world.owner = world.now;
    world.depth++;
    return 0;
}

int explore_lock(pthread_mutex_t *mutex) {
    while (explore_try_lock(mutex) != 0) explore_wait();
    return 0;
}

int explore_unlock(pthread_mutex_t *mutex) {
    if (!world.is_on) return 0;
    touch(mutex, 1, true);
    world.depth--;
    return 0;
}

pthread_t explore_self(void) {
    return (pthread_t)(world.now + 1);
}

#endif
