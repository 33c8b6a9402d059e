/* attic.h - the last resort of line-sized buckets: an exact, ordered table of what fits nowhere
 * else.
 *
 * A word for each entry, of as many bytes as it takes: 1 + the number of its bucket, and 14 bits of
 * its own. The words of 16
 * neighbouring buckets want to be at their home, a random place among `homes`; all stand in the
 * order of (home, word), each as far left as its home and the words before it allow. So the table
 * looks the same whatever the order of events was, the words of a bucket are side by side, and
 * taking one away leaves no mark. With `room` places behind the last home, `room` words always find
 * a place: it is full by count alone.
 *
 * Beside each word is a field of `rest_bits` bits, which moves with it.
 */
#ifndef TAMIS_KINDS_LINE_ATTIC_H
#define TAMIS_KINDS_LINE_ATTIC_H

#include "core/field.h"
#include "core/hash.h"

#define ATTIC_OWN_BITS 14
#define ATTIC_GROUP 16 /* buckets that share a home */

/* A field beside an entry. One of 0 bits is nowhere, and no line is touched for it. */
TAMIS_INLINE uint64_t rest_get(const uint8_t *body, uint64_t at, unsigned bits) {
    return bits == 0 ? 0 : field_get(body, at, bits);
}

TAMIS_INLINE void rest_set(uint8_t *body, uint64_t at, unsigned bits, uint64_t rest) {
    if (bits != 0) field_set(body, at, bits, rest);
}

typedef struct attic {
    uint8_t *body;
    uint64_t words;     /* byte of the first word */
    uint64_t rests;     /* bit of the first rest */
    uint64_t count;     /* byte of the number of words in use */
    uint64_t homes;     /* at least 1 */
    uint64_t room;      /* words it may hold */
    unsigned rest_bits; /* at most FIELD_MAX_BITS */
    unsigned word_bits; /* a multiple of 8; behind the last word, 8 bytes more may be read */
} attic;

TAMIS_INLINE uint64_t attic_places(const attic *of) {
    return of->homes + of->room;
}

TAMIS_INLINE uint64_t attic_count(const attic *of) {
    return le64_load(of->body + of->count);
}

TAMIS_INLINE uint8_t *attic_at(const attic *of, uint64_t place) {
    return of->body + of->words + of->word_bits / 8 * place;
}

TAMIS_INLINE uint64_t attic_word(const attic *of, uint64_t place) {
    if (place >= attic_places(of)) return 0;
    return le64_load(attic_at(of, place)) & bits_low(of->word_bits);
}

TAMIS_INLINE uint64_t attic_rest(const attic *of, uint64_t place) {
    return rest_get(of->body, of->rests + place * of->rest_bits, of->rest_bits);
}

TAMIS_INLINE void attic_set(const attic *of, uint64_t place, uint64_t word, uint64_t rest) {
    uint8_t *const at = attic_at(of, place);
    le64_store(at, (le64_load(at) & ~bits_low(of->word_bits)) | word);
    rest_set(of->body, of->rests + place * of->rest_bits, of->rest_bits, rest);
}

TAMIS_INLINE uint64_t attic_make_word(uint64_t bucket, unsigned own) {
    return (bucket + 1) << ATTIC_OWN_BITS | own;
}

TAMIS_INLINE uint64_t attic_bucket(uint64_t word) {
    return (word >> ATTIC_OWN_BITS) - 1;
}

TAMIS_INLINE uint64_t attic_home(const attic *of, uint64_t bucket) {
    return fastrange(mix64(bucket / ATTIC_GROUP), of->homes);
}

/* Is there no word at the place, or one that is not before `word`, whose home is `home`? */
TAMIS_INLINE bool attic_is_behind(const attic *of, uint64_t place, uint64_t word, uint64_t home) {
    uint64_t const other = attic_word(of, place);
    if (other == 0) return true;
    bool const     is_ours = (attic_bucket(other) ^ attic_bucket(word)) / ATTIC_GROUP == 0;
    uint64_t const other_home = is_ours ? home : attic_home(of, attic_bucket(other));
    return home < other_home || (home == other_home && word <= other);
}

/* The first place whose word is not before `word`, in the order of homes and words. Behind an empty
 * place all homes are later, so from the home on "is behind" is false and then true: gallop, then
 * halve. A file can be made with one run through all of the attic; a step for each of its words
 * would be a step for each pair of them when it is checked. */
TAMIS_INLINE uint64_t attic_find(const attic *of, uint64_t word) {
    uint64_t const home = attic_home(of, attic_bucket(word));
    uint64_t       place = home, step = 1;
    for (; !attic_is_behind(of, place + step - 1, word, home); step *= 2) place += step;
    while (step > 1) {
        uint64_t const half = step / 2;
        if (!attic_is_behind(of, place + half - 1, word, home)) place += half;
        step -= half;
    }
    return place;
}

TAMIS_INLINE bool attic_has_room(const attic *of, uint64_t n) {
    return n <= of->room && attic_count(of) <= of->room - n;
}

/* Add a word, before those that are equal to it and have no smaller rest. There is room. */
static __attribute__((unused)) void attic_add(const attic *of, uint64_t word, uint64_t rest) {
    uint64_t place = attic_find(of, word);
    while (attic_word(of, place) == word && attic_rest(of, place) < rest) place++;
    for (; word != 0 && place < attic_places(of); place++) { /* what is there moves one on */
        uint64_t const next = attic_word(of, place), next_rest = attic_rest(of, place);
        attic_set(of, place, word, rest);
        word = next;
        rest = next_rest;
    }
    le64_store(of->body + of->count, attic_count(of) + 1);
}

/* Take the word at `place` away: those behind it that are not at home move back. */
static __attribute__((unused)) void attic_take(const attic *of, uint64_t place) {
    uint64_t next = attic_word(of, place + 1);
    while (next != 0 && attic_home(of, attic_bucket(next)) <= place) {
        attic_set(of, place, next, attic_rest(of, place + 1));
        next = attic_word(of, ++place + 1);
    }
    attic_set(of, place, 0, 0);
    le64_store(of->body + of->count, attic_count(of) - 1);
}

/* Is every word where it belongs, and are there as many as it says? Safe on any bytes. */
static __attribute__((unused)) bool attic_is_whole(const attic *of, uint64_t buckets) {
    uint64_t last_home = 0, last = 0, n = 0;
    for (uint64_t place = 0; place < attic_places(of); place++) {
        uint64_t const word = attic_word(of, place);
        if (word == 0 && attic_rest(of, place) != 0) return false;
        if (word != 0) {
            if (attic_bucket(word) >= buckets) return false;
            uint64_t const home = attic_home(of, attic_bucket(word));
            bool const     is_next = place > 0 && last != 0; /* right behind another */
            if (home > place || (home < place && !is_next)) return false;
            if (is_next && (home < last_home || (home == last_home && word < last))) return false;
            last_home = home;
            n++;
        }
        last = word;
    }
    return n == attic_count(of) && n <= of->room;
}

#endif
