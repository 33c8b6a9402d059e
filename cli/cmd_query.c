/* cmd_query.c - tamis has, count: questions to a set, a batch of lines at a time. */
#include "commands.h"

#include <string.h>

#include "message.h"
#include "output.h"
#include "setfile.h"

/* ------------------------------------------------------------------ has */

/* The first of answers[at..n-1] that is the wanted one, or n. A bool is a byte of 0 or 1, and
 * memchr(3) looks at dozens of them at once. */
static size_t find_answer(const bool *answers, size_t at, size_t n, bool wanted) {
    const bool *const found = memchr(answers + at, wanted, n - at);
    return found != NULL ? (size_t)(found - answers) : n;
}

/* Neighbours in the buffer are neighbours in the output, so a run of them is one copy. */
void print_chosen(const tamis_key *keys, const bool *answers, size_t n, bool wanted) {
    size_t first = find_answer(answers, 0, n, wanted);
    while (first < n) {
        size_t const last = find_answer(answers, first, n, !wanted);
        output_bytes(keys[first].data, lines_span(keys, first, last));
        first = find_answer(answers, last, n, wanted);
    }
}

/* Returns how many lines were chosen. */
static uint64_t ask_all(const tamis_set *set, lines *from, const options *asked) {
    bool const is_printed = !is_given(asked, OPTION_BIT(COUNT_LINES) | OPTION_BIT(SILENT));
    bool const is_inverted = is_given(asked, OPTION_BIT(INVERT));
    bool const is_one_enough = is_given(asked, OPTION_BIT(SILENT));
    tamis_key  keys[LINES_BATCH];
    bool       answers[LINES_BATCH];
    uint64_t   chosen = 0;
    size_t     n;
    while ((n = lines_next(from, keys)) != 0) {
        size_t const found = tamis_has_batch(set, keys, n, is_printed ? answers : NULL);
        chosen += is_inverted ? n - found : found;
        if (is_printed) print_chosen(keys, answers, n, !is_inverted);
        if (is_one_enough && chosen != 0) break;
    }
    return chosen;
}

static int has_run(const options *asked) {
    tamis_set *const set = setfile_map(asked->operands[0], asked);
    lines            from;
    keys_open(&from, asked, 1);
    uint64_t const chosen = ask_all(set, &from, asked);
    if (is_given(asked, OPTION_BIT(COUNT_LINES)) && !is_given(asked, OPTION_BIT(SILENT))) {
        output_number(chosen);
        output_string("\n");
    }
    lines_close(&from);
    tamis_free(set);
    return chosen != 0 ? EXIT_DONE : EXIT_NONE;
}

const command command_has = {
    .name = "has",
    .operands = "FILE [KEYS...] ",
    .summary = "Print the lines that are in a set, or with -v those that are not",
    .text = "Lines come from the files KEYS, or from standard input, and go out in their order.\n"
            "A line that is in the set is always found; one that is not is taken for one that is\n"
            "with the false-positive rate that the set was built for. So what -v prints is\n"
            "certain. Ends with 0 if a line was printed, with 1 if none was, 2 on an error.\n",
    .examples = "  tamis has words.tamis <text.words           the words that are in the list\n"
                "  tamis has -v words.tamis <text.words        those that certainly are not\n"
                "  tamis has -c seen.tamis today.txt           how many\n"
                "  tail -f access.log | tamis has bad.tamis    answers as lines come\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(INVERT) | OPTION_BIT(COUNT_LINES) | OPTION_BIT(TRUST) |
               OPTION_BIT(SILENT),
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
    die("%s (%s) was not made to count; build it with --count", path, info.plan.kind);
}

static int count_run(const options *asked) {
    const char *const path = asked->operands[0];
    tamis_set *const  set = setfile_map(path, asked);
    tamis_key         keys[LINES_BATCH];
    uint64_t          counts[LINES_BATCH];
    lines             from;
    size_t            n;
    if (tamis_count(set, "", 0, counts) != TAMIS_OK) die_of_no_count(set, path);
    keys_open(&from, asked, 1);
    while ((n = lines_next(&from, keys)) != 0) {
        if (tamis_count_batch(set, keys, n, counts) != TAMIS_OK) die("cannot count");
        print_counts(keys, counts, n, asked->separator);
    }
    lines_close(&from);
    tamis_free(set);
    return EXIT_DONE;
}

const command command_count = {
    .name = "count",
    .operands = "FILE [KEYS...] ",
    .summary = "Print each line and how often it is in a set that can count",
    .text = "Prints the line, a tab and the count: 0 for a line that is not in the set, 'many'\n"
            "for one with more copies than the set can count. A count is never too small; it is\n"
            "too large about as often as there are false positives.\n",
    .examples = "  tamis build hits.tamis -n 1M --count <urls.txt\n"
                "  sort -u urls.txt | tamis count hits.tamis | sort -t\"$(printf '\\t')\" -k2nr\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(TRUST),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = count_run,
};
