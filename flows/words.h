/* words.h - split the text of a machine into words, and report errors.
 *
 * A line is a statement. Words are separated by blanks; ( ) , < > = & are words by themselves; a #
 * begins a comment. The reader holds the current word, "" at the end of the line. Functions that
 * parse return false after an error, which they have reported by word_fail().
 */
#ifndef FLOWS_WORDS_H
#define FLOWS_WORDS_H

#include "machine.h"

typedef struct reader {
    const char      *at, *end; /* the text after the current word */
    unsigned         line;
    char             word[MACHINE_TEXT_BYTES];
    bool             is_quoted;
    unsigned         depth;             /* of parentheses */
    bool             has_over, has_key; /* there was such a line */
    machine         *m;
    machine_problem *problem;
} reader;

/* Report an error in this line. Returns false. */
bool word_fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool word_fail_expected(reader *r, const char *expected); /* "expected ..., found WORD" */

/* Before the first word: check that all of it is text, so that words can be printed in messages. */
bool words_are_text(reader *r);

/* Go to the next word of this line. */
bool word_next(reader *r);

bool word_is(const reader *r, const char *word);
bool word_is_end(const reader *r);
bool word_is_name(const reader *r); /* of letters, digits, - and _ */

/* If the current word is this one, go to the next. *ret_accepted says whether. */
bool word_accept(reader *r, const char *word, bool *ret_accepted);

/* The current word must be this one; go to the next. */
bool word_expect(reader *r, const char *word, const char *expected);

/* Parse the current word and go to the next: a name; a number; a range, as in 53 or 6000-6063; a
 * duration, as in 30s. */
bool word_take_name(reader *r, machine_word ret_name, const char *expected);
bool word_take_number(reader *r, uint32_t limit, const char *expected, uint32_t *ret_value);
bool word_take_range(reader *r, uint32_t limit, const char *expected, uint32_t *ret_low,
                     uint32_t *ret_high);
bool word_take_duration(reader *r, uint64_t *ret_ns);

/* The same for a list of ports, bytes in hexadecimal, and an address or a prefix. */
bool word_take_ports(reader *r, machine_ports *ret_ports);
bool word_take_sequence(reader *r, uint8_t *ret_bytes, uint32_t *ret_n);
bool word_take_prefix(reader *r, machine_prefix *ret_prefix);

#endif
