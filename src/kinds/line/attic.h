/* attic.h - an exact, sorted table of the entries that find no room elsewhere.
 *
 * It is the last of the three places of an entry: its line (runs.h), the shelf of its line
 * (shelf.h), the attic. There is one attic for the whole table. A word stands for one entry:
 *
 *     bit  0        8         14                             word_bits
 *          +--------+---------+------------------------------+
 *          | byte   | chain   | 1 + number of the bucket     |    0: the place is empty
 *          +--------+---------+------------------------------+
 *
 * It uses linear probing with a fixed order. The buckets that share a shelf (SHELF_BUCKETS of them)
 * share a home, a pseudo-random place among `homes`. Words are in the order of (home, word), each
 * as far left as its home and the words before it allow:
 *
 *     home      0     1     2     3     4
 *             [ A1 ][ A2 ][ C1 ][ C2 ][    ]      the home of A is 0, that of C is 1
 *
 * So the attic does not depend on the order of adds and removals, the words of a shelf are next to
 * each other, and removing a word leaves no mark. There are `room` places after the last home, so
 * that `room` words always find a place: only the number of words can make the attic full.
 *
 * A new word pushes the words after it up to the next empty place; a removal brings them back, but
 * no word further than to its home:
 *
 *             [ A1 ][ A2 ][ C1 ][ C2 ][    ]
 *     + A3    [ A1 ][ A2 ][ A3 ][ C1 ][ C2 ]      C1 and C2 were pushed
 *     - A1    [ A2 ][ A3 ][ C1 ][ C2 ][    ]      all of them came back
 *     - A2    [ A3 ][ C1 ][ C2 ][    ][    ]      C1 is at home now, and goes no further
 *
 * Each word has a rest, a field of `rest_bits` bits that moves with it (lines.h).
 */
#ifndef TAMIS_KINDS_LINE_ATTIC_H
#define TAMIS_KINDS_LINE_ATTIC_H

#include "core/hash.h"
#include "dimensions.h"
#include "rests.h"

/* The position of an attic in a body. */
typedef struct attic_view {
    uint8_t *body;
    uint64_t words;     /* byte of the first word */
    uint64_t rests;     /* bit of the first rest */
    uint64_t count;     /* byte of the 64-bit number of words in use */
    uint64_t homes;     /* at least 1 */
    uint64_t room;      /* words it may hold */
    unsigned rest_bits; /* at most FIELD_MAX_BITS */
    unsigned word_bits; /* a multiple of 8; 8 bytes may be read after the last word */
} attic_view;

/* ------------------------------------------------------------------ words */

TAMIS_INLINE uint64_t attic_make_word(uint64_t bucket, unsigned own) {
    return (bucket + 1) << ATTIC_OWN_BITS | own;
}

TAMIS_INLINE uint64_t attic_bucket(uint64_t word) {
    return (word >> ATTIC_OWN_BITS) - 1;
}

TAMIS_INLINE uint64_t attic_places(const attic_view *attic) {
    return attic->homes + attic->room;
}

TAMIS_INLINE uint64_t attic_count(const attic_view *attic) {
    return le64_load(attic->body + attic->count);
}

TAMIS_INLINE uint8_t *attic_at(const attic_view *attic, uint64_t place) {
    return attic->body + attic->words + attic->word_bits / 8 * place;
}

/* The word at a place. Beyond the last place all is empty, so that searches need no bound. */
TAMIS_INLINE uint64_t attic_word(const attic_view *attic, uint64_t place) {
    if (place >= attic_places(attic)) return 0;
    return le64_load(attic_at(attic, place)) & bits_low(attic->word_bits);
}

TAMIS_INLINE uint64_t attic_rest(const attic_view *attic, uint64_t place) {
    return rest_get(attic->body, attic->rests + place * attic->rest_bits, attic->rest_bits);
}

TAMIS_INLINE void attic_set(const attic_view *attic, uint64_t place, uint64_t word, uint64_t rest) {
    uint8_t *const at = attic_at(attic, place);
    le64_store(at, (le64_load(at) & ~bits_low(attic->word_bits)) | word);
    rest_set(attic->body, attic->rests + place * attic->rest_bits, attic->rest_bits, rest);
}

TAMIS_INLINE uint64_t attic_home(const attic_view *attic, uint64_t bucket) {
    return fastrange(mix64(bucket / SHELF_BUCKETS), attic->homes);
}

/* ------------------------------------------------------------------ searching */

/* Would `word`, whose home is `home`, stand at `place` or before it? That is so if the place is
 * empty, or its word is not smaller in the order of (home, word). */
TAMIS_INLINE bool attic_is_behind(const attic_view *attic, uint64_t place, uint64_t word,
                                  uint64_t home) {
    uint64_t const other = attic_word(attic, place);
    if (other == 0) return true;
    bool const     is_ours = (attic_bucket(other) ^ attic_bucket(word)) / SHELF_BUCKETS == 0;
    uint64_t const other_home = is_ours ? home : attic_home(attic, attic_bucket(other));
    return home < other_home || (home == other_home && word <= other);
}

/* The first place whose word is not smaller than `word`. From the home on, attic_is_behind() is
 * first false and then true (after an empty place all homes are later). So double the step until it
 * is true, then halve it. Single steps would be enough for honest tables; but a crafted file can
 * have one run of words through the whole attic, and validating it would take quadratic time. */
TAMIS_INLINE uint64_t attic_find(const attic_view *attic, uint64_t word) {
    uint64_t const home = attic_home(attic, attic_bucket(word));
    uint64_t       place = home, step = 1;
    for (; !attic_is_behind(attic, place + step - 1, word, home); step *= 2) place += step;
    /* Here the word is at one of the `step` places from `place` on. */
    while (step > 1) {
        uint64_t const half = step / 2;
        if (!attic_is_behind(attic, place + half - 1, word, home)) place += half;
        step -= half;
    }
    return place;
}

/* ------------------------------------------------------------------ adding and removing words */

TAMIS_INLINE bool attic_has_room(const attic_view *attic, uint64_t n) {
    return n <= attic->room && attic_count(attic) <= attic->room - n;
}

/* Add a word. Equal words are in the order of their rests. There must be room. */
static __attribute__((unused)) void attic_add(const attic_view *attic, uint64_t word,
                                              uint64_t rest) {
    uint64_t place = attic_find(attic, word);
    while (attic_word(attic, place) == word && attic_rest(attic, place) < rest) place++;
    /* Each word up to the next empty place moves on by one. There is one: `room` places follow the
     * last home. The test of `place` is for a body that was not checked. */
    for (; word != 0 && place < attic_places(attic); place++) {
        uint64_t const next = attic_word(attic, place), next_rest = attic_rest(attic, place);
        attic_set(attic, place, word, rest);
        word = next;
        rest = next_rest;
    }
    le64_store(attic->body + attic->count, attic_count(attic) + 1);
}

/* Remove the word at `place`: those after it that are not at home move back by one. The first word
 * that is at home or beyond an empty place ends that: words are in the order of homes, so none
 * after it can have been pushed by the one that goes. */
static __attribute__((unused)) void attic_take(const attic_view *attic, uint64_t place) {
    uint64_t next = attic_word(attic, place + 1);
    while (next != 0 && attic_home(attic, attic_bucket(next)) <= place) {
        attic_set(attic, place, next, attic_rest(attic, place + 1));
        next = attic_word(attic, ++place + 1);
    }
    attic_set(attic, place, 0, 0);
    le64_store(attic->body + attic->count, attic_count(attic) - 1);
}

/* ------------------------------------------------------------------ checking */

/* Is every word where it belongs, is the count right, and are the rests of empty places zero? Safe
 * on any bytes. */
static __attribute__((unused)) bool attic_is_whole(const attic_view *attic, uint64_t buckets) {
    uint64_t last_home = 0, last = 0, n = 0;
    for (uint64_t place = 0; place < attic_places(attic); place++) {
        uint64_t const word = attic_word(attic, place);
        if (word == 0 && attic_rest(attic, place) != 0) return false;
        if (word != 0) {
            if (attic_bucket(word) >= buckets) return false;
            uint64_t const home = attic_home(attic, attic_bucket(word));
            bool const     is_next = place > 0 && last != 0; /* right after another word */
            if (home > place || (home < place && !is_next)) return false;
            if (is_next && (home < last_home || (home == last_home && word < last))) return false;
            last_home = home;
            n++;
        }
        last = word;
    }
    return n == attic_count(attic) && n <= attic->room;
}

#endif
