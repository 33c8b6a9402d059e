/* words.h - the words of a machine's text, and what is wrong with them.
 *
 * A line is a statement. Words are separated by blanks; ( ) , < > = are words of their own; a #
 * begins a comment. The reader has one word in hand, "" at the end of the line. All functions that
 * answer with a bool say false when something is wrong, and have told it then.
 */
#ifndef FLOWS_WORDS_H
#define FLOWS_WORDS_H

#include "machine.h"

typedef struct reader {
    const char      *at, *end; /* of the text that is not read yet */
    unsigned         line;
    char             word[MACHINE_TEXT_BYTES];
    bool             is_quoted;
    unsigned         depth;    /* of parentheses */
    bool             has_over; /* there was such a line */
    machine         *m;
    machine_problem *problem;
} reader;

/* Tell what is wrong in this line. Always false. */
bool word_fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool word_fail_expected(reader *r, const char *expected); /* ..., found the word in hand */

/* Before the first word: is all of it text? Later ones need not care, whatever they print. */
bool words_are_text(reader *r);

/* Take the next word of this line in hand. */
bool word_next(reader *r);

bool word_is(const reader *r, const char *word);
bool word_is_end(const reader *r);
bool word_is_name(const reader *r); /* of letters, digits, - and _ */

/* If it is this word, go on; *ret_is says whether. */
bool word_accept(reader *r, const char *word, bool *ret_is);

/* It must be this word. */
bool word_expect(reader *r, const char *word, const char *expected);

/* A name; a number; one or two numbers, as in 53 or 6000-6063; a time, as in 30s. */
bool word_take_name(reader *r, machine_word ret_name, const char *expected);
bool word_take_number(reader *r, uint32_t limit, const char *expected, uint32_t *ret_value);
bool word_take_range(reader *r, uint32_t limit, const char *expected, uint32_t *ret_low,
                     uint32_t *ret_high);
bool word_take_duration(reader *r, uint64_t *ret_ns);

#endif
