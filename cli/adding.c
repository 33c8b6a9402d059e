/* adding.c - see adding.h. */
#include "adding.h"

#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "message.h"
#include "numbers.h"
#include "parting.h"
#include "setfile.h"

/* ------------------------------------------------------------------ adding */

/* Read the digits of a number below 2^63; false if there are other characters. */
static bool read_digits(const char *digits, size_t n, uint64_t *ret_value) {
    uint64_t value = 0;
    if (n == 0 || n > 18) return false;
    for (size_t i = 0; i < n; i++) {
        if (digits[i] < '0' || digits[i] > '9') return false;
        value = 10 * value + (uint64_t)(digits[i] - '0');
    }
    *ret_value = value;
    return true;
}

/* A number, or "many". */
static bool read_copies(const char *text, size_t n, uint64_t *ret_copies) {
    if (n != 4 || memcmp(text, "many", 4) != 0) return read_digits(text, n, ret_copies);
    *ret_copies = TAMIS_COUNT_MANY;
    return true;
}

uint64_t counted_split(tamis_key *key, uint64_t line_number) {
    const char *const text = key->data;
    const char *const tab = key->bytes != 0 ? memrchr(text, '\t', key->bytes) : NULL;
    uint64_t          copies;
    if (tab == NULL || !read_copies(tab + 1, (size_t)(text + key->bytes - tab - 1), &copies)) {
        number_text number;
        number_exact(line_number, number);
        die("line %s does not end with a tab and a number of copies (or 'many'), as --counts needs "
            "it; nothing was saved",
            number);
    }
    key->bytes = (size_t)(tab - text);
    return copies;
}

/* Kinds other than line let threads take turns, or cannot be shared. Adding to a shared line costs
 * 1.3 times the processor time of adding to one that is not (10M lines), which two threads make up
 * for. */
bool is_shared_well(const char *kind, unsigned threads) {
    return threads >= 2 && strcmp(kind, "line") == 0;
}

typedef struct adding {
    tamis_set   *set, *hasher;
    parting     *ranges;
    lines       *input;
    uint64_t     copies;
    uint64_t     many; /* copies that saturate a key */
    tamis_status status;
} adding;

/* Copies that saturate a key: one more than the set counts. In a set that does not count, how often
 * a key came is of no use. */
static uint64_t copies_to_saturate(const tamis_set *set) {
    tamis_facts facts;
    return tamis_get_facts(set, &facts) == TAMIS_OK ? facts.count_to + 1 : 1;
}

/* Work: add the keys of a block. If one is refused, it is the last line that counts as read. */
static void add_block(job *block, void *context) {
    const adding *const now = context;
    tamis_key           keys[LINES_BATCH];
    size_t              n, added;
    while (block->status == TAMIS_OK && (n = job_cut(block, keys)) != 0) {
        block->status = tamis_add_batch(now->set, keys, n, &added);
        block->sums[0] += added;
        if (block->status != TAMIS_OK) block->lines -= n - added - 1;
    }
}

/* Work: the same in a shared set, where each thread has its own lines of the table. */
static void add_parted(job *block, void *context) {
    const adding *const now = context;
    job_hash(block, now->hasher);
    if (!block->lacks_room) parting_add(now->ranges, block);
}

/* The same by one thread, as often as the lines say. */
static void add_counted(job *block, void *context) {
    const adding *const now = context;
    tamis_key           keys[LINES_BATCH];
    size_t              n;
    while (block->status == TAMIS_OK && (n = job_cut(block, keys)) != 0) {
        uint64_t const before = now->input->keys + block->lines - n;
        for (size_t i = 0; i < n && block->status == TAMIS_OK; i++) {
            uint64_t copies = counted_split(&keys[i], before + i + 1);
            if (copies == TAMIS_COUNT_MANY) copies = now->many;
            block->status = tamis_add_copies(now->set, keys[i].data, keys[i].bytes, copies);
            if (block->status == TAMIS_OK) block->sums[0] += copies;
            if (block->status != TAMIS_OK) block->lines -= n - i - 1;
        }
    }
}

static bool count_added(job *block, void *context) {
    adding *const now = context;
    now->copies += block->sums[0];
    now->status = block->status;
    return block->status == TAMIS_OK;
}

static void hash_block(job *block, void *context) {
    job_hash(block, ((const adding *)context)->hasher);
}

static bool add_hashes(job *block, void *context) {
    adding *const now = context;
    size_t        added;
    now->status = tamis_add_hash_batch(now->set, block->hashes, (size_t)block->lines, &added);
    now->copies += added;
    if (now->status != TAMIS_OK) now->input->keys -= block->lines - added - 1;
    return now->status == TAMIS_OK;
}

static void add_with_threads(adding *now, bool is_shared, unsigned threads) {
    now->hasher = hasher_like(now->set);
    if (is_shared) {
        now->ranges = parting_make(now->set, threads);
        now->input->keys += crew_run(&(crew_task){ add_parted, count_added, now }, now->input,
                                     crew_of_workers(threads));
        parting_free(now->ranges);
    } else {
        (void)crew_run(&(crew_task){ hash_block, add_hashes, now }, now->input,
                       crew_with_main(threads));
    }
    tamis_free(now->hasher);
}

tamis_status add_lines(set_in_work to, const char *path, lines *input, const options *asked,
                       uint64_t *ret_copies) {
    adding     now = { .set = to.set, .input = input, .status = TAMIS_OK };
    bool const is_counted = is_given(asked, OPTION_BIT(COUNTS));
    if (is_counted) {
        now.many = copies_to_saturate(to.set);
        (void)crew_run(&(crew_task){ add_counted, count_added, &now }, input, 0);
    } else if (asked->threads == 1) {
        (void)crew_run(&(crew_task){ add_block, count_added, &now }, input, 0);
    } else {
        add_with_threads(&now, to.is_shared, asked->threads);
    }
    *ret_copies = now.copies;
    if (now.status != TAMIS_OK && now.status != TAMIS_ERR_FULL) {
        die("%s: %s; nothing was saved", path, tamis_status_text(now.status));
    }
    return now.status;
}

/* ------------------------------------------------------------------ reporting */

/* What helps besides a larger capacity: in a set that has copies of keys, room for more copies of
 * each. The number is an example, since the lines that were not read are not known. */
static void name_room_for_copies(const tamis_info *info, char *ret_text, size_t n) {
    uint64_t const           planned = info->plan.copies;
    unsigned long long const copies = planned < 4 ? 4 : 2 * planned;
    ret_text[0] = '\0';
    if (!setfile_has_copies(info)) return;
    (void)snprintf(ret_text, n, ", or with --copies %llu if every key may come %llu times", copies,
                   copies);
}

void die_of_full(const tamis_set *set, const char *path, uint64_t n_lines) {
    tamis_info    info;
    number_text   lines_text;
    contents_text contents;
    capacity_text made_for;
    char          advice[120];
    setfile_inspect(set, &info);
    name_room_for_copies(&info, advice, sizeof advice);
    number_exact(n_lines, lines_text);
    setfile_name_contents(&info, contents);
    setfile_name_capacity(&info.facts, made_for);
    die("%s is full after %s %s: it holds %s and is made for %s; nothing was saved, build a "
        "larger one with %s%s",
        path, lines_text, plural(n_lines, "line", "lines"), contents, made_for,
        info.facts.grow_to != 0 ? "--grow-to" : "-n", advice);
}

/* Lines that changed nothing are not lost. A set that cannot remove stores nothing for a key that
 * it has, or that is a false positive; in a set that can remove, the key is saturated. Where copies
 * use up capacity, other keys may have saturated its counters. */
static const char *why_nothing_changed(const tamis_plan *plan) {
    if ((plan->abilities & TAMIS_CAN_REMOVE) == 0)
        return "were in it already, or are false positives";
    return plan->copies_take_room ? "met only saturated counters"
                                  : "are more copies than it can count";
}

static void name_rest(const tamis_plan *plan, uint64_t n_new, char *ret_text, size_t n) {
    bool const  is_multiset = (plan->abilities & TAMIS_CAN_REMOVE) != 0;
    number_text text;
    number_exact(n_new, text);
    (void)snprintf(ret_text, n, "%s %s (%s %s)", n_new != 0 ? text : "none",
                   is_multiset ? "added" : "new", n_new != 0 ? "the others" : "all",
                   why_nothing_changed(plan));
}

void name_added(const tamis_info *info, uint64_t n_lines, uint64_t n_copies, uint64_t n_new,
                added_text ret_text) {
    bool const  is_multiset = (info->plan.abilities & TAMIS_CAN_REMOVE) != 0;
    number_text read, copies;
    char        rest[128], counted[80] = "";
    number_exact(n_lines, read);
    number_exact(n_copies, copies);
    if (n_copies != n_lines) {
        (void)snprintf(counted, sizeof counted, " with %s %s", copies,
                       plural(n_copies, "copy", "copies"));
    }
    if (n_new < n_copies)
        name_rest(&info->plan, n_new, rest, sizeof rest);
    else
        (void)snprintf(rest, sizeof rest, "%s%s", n_copies > 1 ? "all " : "",
                       is_multiset ? "added" : "new");
    (void)snprintf(ret_text, sizeof(added_text), "%s %s read%s%s%s", read,
                   plural(n_lines, "line", "lines"), counted, n_copies != 0 ? ", " : "",
                   n_copies != 0 ? rest : "");
}
