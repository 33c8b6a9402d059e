/* cmd_query.c - tamis has, count: ask a set about lines, a batch at a time. */
#include "commands.h"

#include <string.h>

#include "crew.h"
#include "message.h"
#include "output.h"
#include "setfile.h"

/* ------------------------------------------------------------------ has */

/* The first of answers[at..n-1] that equals `wanted`, or n. A bool is a byte of 0 or 1, and
 * memchr(3) compares dozens of bytes at once. */
static size_t find_answer(const bool *answers, size_t at, size_t n, bool wanted) {
    const bool *const found = memchr(answers + at, wanted, n - at);
    return found != NULL ? (size_t)(found - answers) : n;
}

/* Lines that follow each other in the buffer follow each other in the output, so a run of them is
 * one copy. */
void print_chosen(const tamis_key *keys, const bool *answers, size_t n, bool wanted) {
    size_t first = find_answer(answers, 0, n, wanted);
    while (first < n) {
        size_t const last = find_answer(answers, first, n, !wanted);
        output_bytes(keys[first].data, lines_span(keys, first, last));
        first = find_answer(answers, last, n, wanted);
    }
}

typedef struct question {
    const setfile *file;
    bool           is_printed, is_one_enough, wanted;
    uint64_t       chosen;
} question;

/* Move the chosen lines to the front, where lines were that are not needed any more. Returns the
 * end of what is there then. */
static char *keep_chosen(const tamis_key *keys, const bool *answers, size_t n, bool wanted,
                         char *to) {
    size_t first = find_answer(answers, 0, n, wanted);
    while (first < n) {
        size_t const last = find_answer(answers, first, n, !wanted);
        size_t const bytes = lines_span(keys, first, last);
        memmove(to, keys[first].data, bytes);
        to += bytes;
        first = find_answer(answers, last, n, wanted);
    }
    return to;
}

/* Work: look up the lines of a block, and keep those that have to be printed. */
static void ask_block(job *block, void *context) {
    const question *const asked = context;
    char *const           begin = block->text.buffer + block->text.begin;
    char                 *to = begin;
    tamis_key             keys[LINES_BATCH];
    bool                  answers[LINES_BATCH];
    size_t                n;
    while ((n = job_cut(block, keys)) != 0) {
        size_t const found =
            tamis_has_batch(asked->file->set, keys, n, asked->is_printed ? answers : NULL);
        block->sums[0] += asked->wanted ? found : n - found;
        if (asked->is_printed) to = keep_chosen(keys, answers, n, asked->wanted, to);
        if (asked->is_one_enough && block->sums[0] != 0) break;
    }
    block->output = begin;
    block->n_output = (size_t)(to - begin);
}

/* The file is checked before the answers are printed, so that none from an overwritten file is. */
static bool print_block(job *block, void *context) {
    question *const asked = context;
    setfile_check(asked->file);
    asked->chosen += block->sums[0];
    if (block->n_output != 0) output_bytes(block->output, block->n_output);
    return !asked->is_one_enough || asked->chosen == 0;
}

/* Returns how many lines were chosen. Threads only read the set, so this works with any kind. */
static uint64_t ask_all(const setfile *file, lines *input, const options *asked) {
    question all = { .file = file,
                     .is_printed = !is_given(asked, OPTION_BIT(COUNT_LINES) | OPTION_BIT(SILENT)),
                     .is_one_enough = is_given(asked, OPTION_BIT(SILENT)),
                     .wanted = !is_given(asked, OPTION_BIT(INVERT)) };
    (void)crew_run(&(crew_task){ ask_block, print_block, &all }, input,
                   crew_of_workers(asked->threads));
    return all.chosen;
}

static int has_run(const options *asked) {
    setfile file;
    lines   input;
    setfile_open_set(asked->operands[0], asked, &file);
    keys_open(&input, asked, 1);
    input.is_answered = !is_given(asked, OPTION_BIT(COUNT_LINES) | OPTION_BIT(SILENT));
    uint64_t const chosen = ask_all(&file, &input, asked);
    if (is_given(asked, OPTION_BIT(COUNT_LINES)) && !is_given(asked, OPTION_BIT(SILENT))) {
        output_number(chosen);
        output_string("\n");
    }
    lines_close(&input);
    setfile_close(&file);
    return chosen != 0 ? EXIT_DONE : EXIT_NONE;
}

const command command_has = {
    .name = "has",
    .operands = "FILE [KEYS...] ",
    .summary = "Print the lines that are in a set, or with -v those that are not",
    .text =
        "Lines come from the files KEYS, or from standard input, and are printed in the same\n"
        "order. A line that is in the set is always found. A line that is not in the set is\n"
        "found by mistake with the false-positive rate of the set. So the lines that -v prints\n"
        "are certainly not in the set. A file of more than 16 MiB is mapped, which is fast; if\n"
        "another program overwrites it meanwhile, that is an error. --read reads it into\n"
        "memory instead. Ends with 0 if a line was printed, with 1 if none was, with 2 on an\n"
        "error.\n",
    .examples = "  tamis has words.tamis <text.words           the words that are in the list\n"
                "  tamis has -v words.tamis <text.words        those that certainly are not\n"
                "  tamis has -c seen.tamis today.txt           how many\n"
                "  tail -f access.log | tamis has bad.tamis    answers at once\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(INVERT) | OPTION_BIT(COUNT_LINES) | OPTION_BIT(TRUST) |
               OPTION_BIT(READ) | OPTION_BIT(THREADS) | OPTION_BIT(SILENT),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = has_run,
};

/* ------------------------------------------------------------------ count */

static void print_counts(const tamis_key *keys, const uint64_t *counts, size_t n, char separator) {
    for (size_t i = 0; i < n; i++) {
        output_bytes(keys[i].data, keys[i].bytes);
        output_bytes("\t", 1);
        if (counts[i] == TAMIS_COUNT_MANY)
            output_string("many");
        else
            output_number(counts[i]);
        output_bytes(&separator, 1);
    }
}

static _Noreturn void die_of_no_count(const tamis_set *set, const char *path) {
    tamis_info info;
    setfile_inspect(set, &info);
    die("%s (%s) was not built to count; build it with --count", path, info.plan.kind);
}

static int count_run(const options *asked) {
    const char *const path = asked->operands[0];
    setfile           file;
    tamis_key         keys[LINES_BATCH];
    uint64_t          counts[LINES_BATCH];
    lines             input;
    size_t            n;
    setfile_open_set(path, asked, &file);
    if (tamis_count(file.set, "", 0, counts) != TAMIS_OK) die_of_no_count(file.set, path);
    keys_open(&input, asked, 1);
    input.is_answered = true;
    while ((n = lines_next(&input, keys)) != 0) {
        if (tamis_count_batch(file.set, keys, n, counts) != TAMIS_OK) die("cannot count");
        setfile_check(&file);
        print_counts(keys, counts, n, asked->separator);
    }
    lines_close(&input);
    setfile_close(&file);
    return EXIT_DONE;
}

const command command_count = {
    .name = "count",
    .operands = "FILE [KEYS...] ",
    .summary = "Print each line and its number of copies in a set built with --count",
    .text = "Prints the line, a tab and the count: 0 for a line that is not in the set, 'many'\n"
            "for one with more copies than the set can count ('tamis add --counts' reads both). A\n"
            "count is never too small; it is too large about as often as there are false\n"
            "positives.\n",
    .examples = "  tamis build hits.tamis -n 1M --count <urls.txt\n"
                "  sort -u urls.txt | tamis count hits.tamis | sort -t\"$(printf '\\t')\" -k2nr\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(TRUST) | OPTION_BIT(READ),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = count_run,
};
