/* ceiling.c - what the memory gives: one random 64-byte line per key and next to nothing else.
 *
 * A set must fetch at least one line per key when it is larger than the caches, so no contestant
 * can be much faster than this. `has` reads a line; `add` and `remove` read it, change a word and
 * write it back. Single calls are a plain loop, whose reads the processor overlaps as far as its
 * window reaches; batch calls prefetch groups of 32 lines first.
 *
 * Small tables are faster than large ones, so a small set held against the ceiling of a large one
 * would look better than it is. There are ceilings of several sizes, a factor of two apart.
 */
#include "contestant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GROUP 32
#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)

typedef struct line {
    uint64_t word[LINE_BYTES / sizeof(uint64_t)];
} line;

typedef struct ceiling {
    line    *lines;
    uint64_t n_lines;
} ceiling;

/* Keys are random already: the high half of a product spreads them over any number of lines. */
static inline line *line_of(const ceiling *c, uint64_t key) {
    return &c->lines[(uint64_t)(((unsigned __int128)key * c->n_lines) >> 64)];
}

static size_t read_plain(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    size_t        odd = 0;
    for (size_t i = 0; i < n; i++) odd += line_of(&c, keys[i])->word[0] & 1;
    return odd;
}

static size_t change_plain(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    for (size_t i = 0; i < n; i++) line_of(&c, keys[i])->word[0]++;
    return n;
}

static size_t churn_plain(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    for (size_t i = 0; i < n; i++) {
        line_of(&c, keys[i])->word[0]--;
        line_of(&c, keys[n + i])->word[0]++;
    }
    return 2 * n;
}

static size_t read_groups(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    size_t        odd = 0;
    for (size_t at = 0; at < n; at += GROUP) {
        size_t const end = at + GROUP < n ? at + GROUP : n;
        for (size_t i = at; i < end; i++) __builtin_prefetch(line_of(&c, keys[i]), 0);
        for (size_t i = at; i < end; i++) odd += line_of(&c, keys[i])->word[0] & 1;
    }
    return odd;
}

static size_t change_groups(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    for (size_t at = 0; at < n; at += GROUP) {
        size_t const end = at + GROUP < n ? at + GROUP : n;
        for (size_t i = at; i < end; i++) __builtin_prefetch(line_of(&c, keys[i]), 1);
        for (size_t i = at; i < end; i++) line_of(&c, keys[i])->word[0]++;
    }
    return n;
}

static void ceiling_clear(void *table) {
    ceiling *const c = table;
    for (uint64_t i = 0; i < c->n_lines; i++) c->lines[i].word[0] = i;
}

static void ceiling_free(void *table) {
    ceiling *const c = table;
    munmap(c->lines, c->n_lines * LINE_BYTES);
    free(c);
}

/* On huge pages where the library would be: aligned to them, and asked for. */
static line *map_lines(size_t bytes) {
    uint8_t *const raw =
        mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)raw == MAP_FAILED) return NULL;
    size_t const   past = (uintptr_t)raw % HUGE_PAGE;
    size_t const   head = past == 0 ? 0 : HUGE_PAGE - past;
    uint8_t *const aligned = raw + head;
    if (head != 0) munmap(raw, head);
    if (head != HUGE_PAGE) munmap(aligned + bytes, HUGE_PAGE - head);
    if (bytes >= 2 * HUGE_PAGE) (void)madvise(aligned, bytes, MADV_HUGEPAGE);
    return (line *)(void *)aligned;
}

static void name_by_size(contestant *who, size_t bytes) {
    double const kilobytes = (double)bytes / 1024;
    bool const   is_large = kilobytes >= 1024;
    (void)snprintf(who->name, sizeof who->name, "lines of %.3g %s",
                   is_large ? kilobytes / 1024 : kilobytes, is_large ? "MiB" : "KiB");
}

static void ceiling_make(contestant *who, uint64_t bytes) {
    ceiling *const c = malloc(sizeof *c);
    size_t const   whole = ((size_t)bytes + PAGE - 1) & ~(PAGE - 1);
    line *const    lines = c == NULL ? NULL : map_lines(whole);
    *who = (contestant){ .group = "ceiling", .lines = 1, .bytes = whole };
    name_by_size(who, whole);
    if (lines == NULL) {
        contestant_sit_out(who, "no memory for it");
        free(c);
        return;
    }
    *c = (ceiling){ .lines = lines, .n_lines = whole / LINE_BYTES };
    who->table = c;
    who->ops = (bench_ops){
        .call = { { change_plain, read_plain, change_plain, churn_plain },
                  { change_groups, read_groups, change_groups, NULL } },
        .clear = ceiling_clear,
        .free = ceiling_free,
    };
}

/* The largest table that is smaller than `below`, or 0. */
static uint64_t largest_below(const bench_lineup *lineup, uint64_t below) {
    uint64_t largest = 0;
    for (size_t i = 0; i < lineup->n; i++) {
        const contestant *const who = &lineup->rows[i];
        if (who->table == NULL || who->bytes >= below) continue;
        if (who->bytes > largest) largest = who->bytes;
    }
    return largest;
}

/* A ceiling serves tables down to half its size. */
static size_t choose_sizes(const bench_lineup *lineup, const bench_options *options,
                           uint64_t ret_bytes[MAX_CEILINGS]) {
    size_t n = 0;
    if (options->ceiling_bytes != 0) ret_bytes[n++] = options->ceiling_bytes;
    uint64_t below = n == 0 ? UINT64_MAX : 0;
    while (n < MAX_CEILINGS) {
        uint64_t const bytes = largest_below(lineup, below);
        bool const     is_another_page = n > 0 && bytes < PAGE;
        if (bytes == 0 || is_another_page) break;
        ret_bytes[n++] = bytes;
        below = bytes / 2;
    }
    return n;
}

void enter_ceilings(bench_lineup *lineup, const bench_options *options) {
    uint64_t     bytes[MAX_CEILINGS];
    size_t const n = choose_sizes(lineup, options, bytes);
    memmove(&lineup->rows[n], &lineup->rows[0], lineup->n * sizeof lineup->rows[0]);
    for (size_t i = 0; i < n; i++) ceiling_make(&lineup->rows[i], bytes[i]);
    lineup->n += n;
    lineup->n_ceilings = n;
}
