/* ceiling.c - the speed of bare memory: one random 64-byte line per key and almost no other work.
 *
 * A set that is larger than the caches must fetch at least one line per key, so no contestant can
 * be much faster than this. `has` reads a line; `add` and `remove` change a word in it. Single
 * calls are a plain loop, whose reads the processor overlaps as far as it looks ahead. Batch calls
 * prefetch groups of 32 lines first.
 *
 * Small tables are faster than large ones. A small set would look better than it is against the
 * ceiling of a large one. So there are ceilings of several sizes, a factor of two apart.
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

/* Keys are random, so the high half of a product spreads them over any number of lines. */
static inline line *find_ceiling_line(const ceiling *c, uint64_t key) {
    return &c->lines[(uint64_t)(((unsigned __int128)key * c->n_lines) >> 64)];
}

static size_t ceiling_read_plain(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    size_t        odd = 0;
    for (size_t i = 0; i < n; i++) odd += find_ceiling_line(&c, keys[i])->word[0] & 1;
    return odd;
}

static size_t ceiling_change_plain(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    for (size_t i = 0; i < n; i++) find_ceiling_line(&c, keys[i])->word[0]++;
    return n;
}

static size_t ceiling_churn_plain(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    for (size_t i = 0; i < n; i++) {
        find_ceiling_line(&c, keys[i])->word[0]--;
        find_ceiling_line(&c, keys[n + i])->word[0]++;
    }
    return 2 * n;
}

static size_t ceiling_read_groups(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    size_t        odd = 0;
    for (size_t at = 0; at < n; at += GROUP) {
        size_t const end = at + GROUP < n ? at + GROUP : n;
        for (size_t i = at; i < end; i++) __builtin_prefetch(find_ceiling_line(&c, keys[i]), 0);
        for (size_t i = at; i < end; i++) odd += find_ceiling_line(&c, keys[i])->word[0] & 1;
    }
    return odd;
}

static size_t ceiling_change_groups(void *table, const uint64_t *keys, size_t n) {
    ceiling const c = *(const ceiling *)table;
    for (size_t at = 0; at < n; at += GROUP) {
        size_t const end = at + GROUP < n ? at + GROUP : n;
        for (size_t i = at; i < end; i++) __builtin_prefetch(find_ceiling_line(&c, keys[i]), 1);
        for (size_t i = at; i < end; i++) find_ceiling_line(&c, keys[i])->word[0]++;
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

/* Use huge pages where the library does: align the memory to them, and ask for them. */
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

static void name_by_size(contestant *entrant, size_t bytes) {
    double const kilobytes = (double)bytes / 1024;
    bool const   is_large = kilobytes >= 1024;
    (void)snprintf(entrant->name, sizeof entrant->name, "lines of %.3g %s",
                   is_large ? kilobytes / 1024 : kilobytes, is_large ? "MiB" : "KiB");
}

static void ceiling_make(contestant *entrant, uint64_t bytes) {
    ceiling *const c = malloc(sizeof *c);
    size_t const   whole = ((size_t)bytes + PAGE - 1) & ~(PAGE - 1);
    line *const    lines = c == NULL ? NULL : map_lines(whole);
    *entrant = (contestant){ .group = "ceiling", .lines = 1, .bytes = whole };
    name_by_size(entrant, whole);
    if (lines == NULL) {
        contestant_exclude(entrant, "out of memory");
        free(c);
        return;
    }
    *c = (ceiling){ .lines = lines, .n_lines = whole / LINE_BYTES };
    entrant->table = c;
    entrant->ops = (bench_ops){
        .call = { { ceiling_change_plain, ceiling_read_plain, ceiling_change_plain,
                    ceiling_churn_plain },
                  { ceiling_change_groups, ceiling_read_groups, ceiling_change_groups, NULL } },
        .clear = ceiling_clear,
        .free = ceiling_free,
    };
}

/* The largest table that is smaller than `below`, or 0. */
static uint64_t largest_below(const bench_lineup *lineup, uint64_t below) {
    uint64_t largest = 0;
    for (size_t i = 0; i < lineup->n; i++) {
        const contestant *const entrant = &lineup->rows[i];
        if (entrant->table == NULL || entrant->bytes >= below) continue;
        if (entrant->bytes > largest) largest = entrant->bytes;
    }
    return largest;
}

/* A ceiling is used for tables down to half its size. */
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
