/* cmd_dedup.c - tamis dedup: each line the first time it is seen, in bounded memory. */
#include "commands.h"

#include "message.h"
#include "numbers.h"
#include "output.h"

/* What was seen, and what has been said about it. */
typedef struct memory_of {
    tamis_set *set;
    uint64_t   capacity, different;
    bool       is_full;
} memory_of;

/* The false-positive rate only holds up to the capacity; whoever wants to rely on the output must
 * know. */
static void warn_of_many(const memory_of *seen) {
    number_text capacity;
    number_exact(seen->capacity, capacity);
    warn("more different lines than the %s of -n: from here on, more new lines than asked for are "
         "taken for old ones; give a larger -n",
         capacity);
}

static void warn_of_full(const memory_of *seen) {
    number_text different;
    number_exact(seen->different, different);
    warn("no room for more than %s different lines: from here on, new lines are printed each time; "
         "give a larger -n",
         different);
}

/* A new line is remembered, if there is room. */
static void remember(memory_of *seen, const tamis_key *key) {
    tamis_status const status = tamis_add(seen->set, key->data, key->bytes);
    if (status != TAMIS_OK && !seen->is_full) {
        seen->is_full = true;
        warn_of_full(seen);
    }
    if (status == TAMIS_OK && ++seen->different == seen->capacity + 1) warn_of_many(seen);
}

/* answers[i]: was keys[i] seen before? The batch fetches the memory; a line that it did not find
 * may still have come earlier in the same batch, so it is asked again, which is cheap by then. */
static void look_and_remember(memory_of *seen, const tamis_key *keys, size_t n, bool *answers) {
    if (tamis_has_batch(seen->set, keys, n, answers) == n) return;
    for (size_t i = 0; i < n; i++) {
        if (answers[i]) continue;
        answers[i] = tamis_has(seen->set, keys[i].data, keys[i].bytes);
        if (!answers[i]) remember(seen, &keys[i]);
    }
}

static uint64_t count_chosen(const bool *answers, size_t n, bool wanted) {
    uint64_t chosen = 0;
    for (size_t i = 0; i < n; i++) chosen += answers[i] == wanted;
    return chosen;
}

static void dedup_all(memory_of *seen, const options *asked) {
    bool const is_inverted = is_given(asked, OPTION_BIT(INVERT));
    bool const is_counted = is_given(asked, OPTION_BIT(COUNT_LINES));
    lines      input;
    tamis_key  keys[LINES_BATCH];
    bool       answers[LINES_BATCH];
    uint64_t   chosen = 0;
    size_t     n;
    keys_open(&input, asked, 0);
    while ((n = lines_next(&input, keys)) != 0) {
        look_and_remember(seen, keys, n, answers);
        if (is_counted)
            chosen += count_chosen(answers, n, is_inverted);
        else
            print_chosen(keys, answers, n, is_inverted);
    }
    lines_close(&input);
    if (!is_counted) return;
    output_number(chosen);
    output_string("\n");
}

static int dedup_run(const options *asked) {
    memory_of seen = { .capacity = asked->spec.capacity };
    if (asked->is_counted) die("-n auto: a stream is read only once; write a number");
    if (seen.capacity == 0) die("how many different lines may there be? Say -n 1M");
    seen.set = set_create(&asked->spec);
    dedup_all(&seen, asked);
    tamis_free(seen.set);
    return seen.is_full || seen.different > seen.capacity ? EXIT_NONE : EXIT_DONE;
}

const command command_dedup = {
    .name = "dedup",
    .operands = "-n LINES [KEYS...] ",
    .summary = "Print each line the first time it is seen, in bounded memory",
    .text = "The order stays, nothing is sorted, and answers come as lines come. With the\n"
            "false-positive rate of -e, a new line is taken for one that was seen and is left\n"
            "out: at 0.1%, at most one in a thousand. -n is how many different lines there may\n"
            "be; a warning comes when there are more, and the end is 1: new lines are then left\n"
            "out more often, or, if the set is full, old ones printed again. -v prints the\n"
            "repeated lines instead.\n",
    .examples = "  tamis dedup -n 10M -e 1e-6 <urls.txt >urls.unique\n"
                "  tail -f access.log | cut -d' ' -f1 | tamis dedup -n 1M     new visitors\n",
    .options = (OPTIONS_OF_SPEC & ~OPTIONS_OF_ABILITY) | OPTIONS_OF_HASHING | OPTION_BIT(NULL) |
               OPTION_BIT(INVERT) | OPTION_BIT(COUNT_LINES),
    .max_operands = SIZE_MAX,
    .run = dedup_run,
};
