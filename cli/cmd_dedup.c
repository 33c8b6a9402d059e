/* cmd_dedup.c - tamis dedup: print each line the first time it is seen, in little memory.
 *
 * With --set, the lines that were seen are kept in a file for the next run. It is saved when all
 * output is written. If something goes wrong before, the file is unchanged, and the next run prints
 * lines again rather than losing them.
 */
#include "commands.h"

#include <unistd.h>

#include "crew.h"
#include "growth.h"
#include "message.h"
#include "numbers.h"
#include "output.h"
#include "setfile.h"
#include "signals.h"

/* The lines that were seen. */
typedef struct dedup_memory {
    tamis_set     *set;
    uint64_t       capacity, different; /* the capacity of a set that grows is its largest */
    bool           grows, is_full;
    setfile_target target; /* with --set */
} dedup_memory;

/* The option that makes room for more. */
static const char *size_option(const dedup_memory *seen) {
    return seen->grows ? "--grow-to" : "-n";
}

/* The false-positive rate holds only up to the capacity; users who rely on the output must know. */
static void warn_of_many(const dedup_memory *seen) {
    number_text capacity;
    number_exact(seen->capacity, capacity);
    warn("more than %s different lines: from now on, more new lines are left out by mistake than "
         "the rate of -e says; use a larger %s",
         capacity, size_option(seen));
}

static void warn_of_full(const dedup_memory *seen) {
    number_text different;
    number_exact(seen->different, different);
    warn(
        "no room for more than %s different lines: from now on, other lines are printed each time; "
        "use a larger %s",
        different, size_option(seen));
}

/* A line was refused: from now on, lines that are not in the set are printed each time. */
static void note_full(dedup_memory *seen) {
    if (!seen->is_full) warn_of_full(seen);
    seen->is_full = true;
}

/* Some lines: their keys, and their hashes if those are known already. */
typedef struct some_lines {
    const tamis_key *keys;
    const uint64_t  *hashes; /* or NULL */
    size_t           n;
} some_lines;

static tamis_status add_new_from(tamis_set *set, const some_lines *some, size_t first,
                                 bool *ret_is_new, size_t *ret_done) {
    size_t const left = some->n - first;
    if (some->hashes != NULL) {
        return tamis_add_new_hash_batch(set, some->hashes + first, left, ret_is_new + first,
                                        ret_done);
    }
    return tamis_add_new_batch(set, some->keys + first, left, ret_is_new + first, ret_done);
}

/* is_new[i]: is line i seen for the first time? New lines are added, as long as there is room. */
static void look_and_remember(dedup_memory *seen, const some_lines *some, bool *is_new) {
    uint64_t const before = seen->different;
    size_t         done = 0, handled;
    while (done < some->n) {
        tamis_status const status = add_new_from(seen->set, some, done, is_new, &handled);
        for (size_t i = done; i < done + handled; i++) seen->different += is_new[i];
        done += handled;
        if (status == TAMIS_OK) break;
        if (status != TAMIS_ERR_FULL) die("cannot add: %s", tamis_status_text(status));
        note_full(seen);
        is_new[done++] = true;
    }
    if (before <= seen->capacity && seen->different > seen->capacity) warn_of_many(seen);
}

static uint64_t count_chosen(const bool *answers, size_t n, bool wanted) {
    uint64_t chosen = 0;
    for (size_t i = 0; i < n; i++) chosen += answers[i] == wanted;
    return chosen;
}

/* What is done with the lines. */
typedef struct dedup_task {
    dedup_memory *seen;
    tamis_set    *hasher; /* of several threads */
    bool          is_counted, wanted;
    uint64_t      chosen;
} dedup_task;

static void dedup_some(dedup_task *now, const some_lines *some) {
    bool is_new[LINES_BATCH];
    look_and_remember(now->seen, some, is_new);
    if (now->is_counted)
        now->chosen += count_chosen(is_new, some->n, now->wanted);
    else
        print_chosen(some->keys, is_new, some->n, now->wanted);
}

static void hash_block(job *block, void *context) {
    job_hash(block, ((const dedup_task *)context)->hasher);
}

/* Whether a line is new depends on all lines before it. So it is decided here, in their order; only
 * cutting and hashing is the work of many threads. */
static bool dedup_hashed(job *block, void *context) {
    for (size_t at = 0; at < block->lines; at += LINES_BATCH) {
        size_t const left = (size_t)block->lines - at;
        dedup_some(context, &(some_lines){ block->keys + at, block->hashes + at,
                                           left < LINES_BATCH ? left : LINES_BATCH });
    }
    return true;
}

/* The same by one thread, which need not store the hashes. */
static void dedup_block(job *block, void *context) {
    tamis_key keys[LINES_BATCH];
    size_t    n;
    while ((n = job_cut(block, keys)) != 0) dedup_some(context, &(some_lines){ keys, NULL, n });
}

/* Returns how many lines were read. */
static uint64_t dedup_all(dedup_memory *seen, const options *asked) {
    dedup_task now = { .seen = seen,
                       .is_counted = is_given(asked, OPTION_BIT(COUNT_LINES)),
                       .wanted = !is_given(asked, OPTION_BIT(INVERT)) };
    lines      input;
    keys_open(&input, asked, 0);
    input.is_answered = !now.is_counted;
    if (asked->threads == 1) {
        (void)crew_run(&(crew_task){ dedup_block, NULL, &now }, &input, 0);
    } else {
        now.hasher = hasher_like(seen->set);
        (void)crew_run(&(crew_task){ hash_block, dedup_hashed, &now }, &input,
                       crew_with_main(asked->threads));
        tamis_free(now.hasher);
    }
    uint64_t const n_read = input.keys;
    lines_close(&input);
    if (!now.is_counted) return n_read;
    output_number(now.chosen);
    output_string("\n");
    return n_read;
}

/* ------------------------------------------------------------------ the set */

static void memory_take(dedup_memory *seen, tamis_set *set) {
    tamis_facts facts;
    if (tamis_get_facts(set, &facts) != TAMIS_OK) die("there is no set to inspect");
    seen->set = set;
    seen->grows = facts.grow_to != 0;
    seen->capacity = seen->grows ? facts.grow_to : facts.capacity;
    seen->different = facts.keys;
}

static void memory_create(dedup_memory *seen, const options *asked) {
    tamis_spec spec = asked->spec;
    if (asked->is_counted) die("-n auto: a stream is read only once; leave out -n");
    bool const is_open = spec.capacity == 0;
    bool const may_grow = !is_given(asked, OPTION_BIT(GEOMETRY));
    if (is_open && (!may_grow || !growth_without_count(&spec))) {
        die("a set cannot grow with these options, so say how many different lines there may be, "
            "as "
            "in -n 1M");
    }
    memory_take(seen, set_create(&spec));
}

/* Does a script ask for another size than the set has? */
static bool is_other_size(const dedup_memory *seen, const options *asked) {
    uint64_t const wanted = asked->spec.capacity, grow_to = asked->spec.grow_to;
    if (seen->grows) return wanted > seen->capacity || grow_to > seen->capacity;
    return (wanted != 0 && wanted != seen->capacity) || grow_to > seen->capacity;
}

/* The set of an earlier run. It has its own capacity and rate; if a script passes others, a message
 * says that they have no effect. A set that can remove, made by `build`, may have several copies of
 * a line: then the number of different lines is an estimate. */
static void memory_open(dedup_memory *seen, const options *asked) {
    tamis_info  info;
    number_text capacity;
    memory_take(seen, setfile_take(asked->set, asked, &seen->target));
    setfile_inspect(seen->set, &info);
    bool const is_multiset = (info.plan.abilities & TAMIS_CAN_REMOVE) != 0;
    if (is_multiset) seen->different = (uint64_t)(info.distinct + 0.5);
    number_exact(seen->capacity, capacity);
    if (!is_other_size(seen, asked)) return;
    warn("%s exists and %s %s keys; %s does not change that", asked->set,
         seen->grows ? "grows to" : "is made for", capacity,
         asked->spec.grow_to != 0 ? "--grow-to" : "-n");
}

static void memory_save(const dedup_memory *seen, uint64_t n_read, uint64_t n_before,
                        const options *asked) {
    tamis_info    info;
    number_text   read, new;
    contents_text contents;
    capacity_text made_for;
    output_flush();
    setfile_save(seen->set, &seen->target);
    if (is_given(asked, OPTION_BIT(QUIET))) return;
    setfile_inspect(seen->set, &info);
    number_exact(n_read, read);
    number_exact(seen->different - n_before, new);
    setfile_name_contents(&info, contents);
    setfile_name_capacity(&info.facts, made_for);
    warn("%s: %s %s read, %s new; it holds %s and is made for %s", asked->set, read,
         plural(n_read, "line", "lines"), new, contents, made_for);
}

static int dedup_run(const options *asked) {
    dedup_memory seen = { .set = NULL };
    if (asked->set == NULL) {
        memory_create(&seen, asked);
        (void)dedup_all(&seen, asked);
    } else {
        if (access(asked->set, F_OK) == 0) {
            memory_open(&seen, asked);
        } else {
            setfile_aim(asked->set, asked, &seen.target);
            memory_create(&seen, asked);
        }
        uint64_t const n_before = seen.different;
        if (!is_given(asked, OPTION_BIT(DISCARD))) signals_end_input();
        uint64_t const n_read = dedup_all(&seen, asked);
        memory_save(&seen, n_read, n_before, asked);
    }
    tamis_free(seen.set);
    return seen.is_full || seen.different > seen.capacity ? EXIT_NONE : EXIT_DONE;
}

const command command_dedup = {
    .name = "dedup",
    .operands = "[KEYS...] ",
    .summary = "Print each line the first time it is seen, in little memory",
    .text =
        "The order stays the same, and a line is printed as soon as it is read. A new line is\n"
        "mistaken for a repeated one, and left out, with the probability of -e: at 0.1%, at most\n"
        "one in a thousand. The memory grows with the number of different lines, up to 1G or\n"
        "--grow-to. If you know that number, -n takes less memory. If there are more lines, a\n"
        "warning says so and the exit code is 1: from then on, more new lines are left out or,\n"
        "if the set is full, repeated lines are printed again. -v prints the repeated lines\n"
        "instead. With --set FILE, lines of earlier runs are repeated lines, too: they are kept\n"
        "in FILE, which is made if it does not exist (-n, --grow-to and -e apply only then). If\n"
        "the run fails, FILE does not change; on SIGINT (Ctrl-C), SIGTERM or SIGHUP, the lines\n"
        "printed so far are saved.\n",
    .examples =
        "  tamis dedup -e 1e-6 <urls.txt >urls.unique\n"
        "  tamis dedup --set seen.tamis <today.txt            new since the last run\n"
        "  tail -f access.log | cut -d' ' -f1 | tamis dedup   new visitors\n"
        "  tamis dedup -n 10M <urls.txt >urls.unique          at most 10 million different\n",
    .options = (OPTIONS_OF_SPEC & ~OPTIONS_OF_ABILITY) | OPTIONS_OF_HASHING | OPTION_BIT(SET) |
               OPTION_BIT(NULL) | OPTION_BIT(INVERT) | OPTION_BIT(COUNT_LINES) |
               OPTION_BIT(THREADS) | OPTION_BIT(DISCARD) | OPTION_BIT(QUIET),
    .max_operands = SIZE_MAX,
    .run = dedup_run,
};
