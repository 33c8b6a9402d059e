/* attic.h - the attic after a change, rebuilt from a list of its words.
 *
 * The words are in the order of (home, word, rest). Each is at the first free place from its home
 * on (kinds/line/attic.h). So, in that order,
 *
 *     place(i) = max(home(i), place(i - 1) + 1)   so   place(i) - i = max of home(j) - j, j <= i
 *
 * So the words are grouped by home (count, prefix sum, scatter). One thread sorts the few words of
 * a home. Then a prefix maximum gives all places.
 */
#ifndef TAMIS_GPU_ATTIC_H
#define TAMIS_GPU_ATTIC_H

#include "lookup.h"

TAMIS_INLINE attic_view gpu_attic_view(const gpu_table *table) {
    return lines_shelves(gpu_view(table, false)).attic;
}

/* The words of groups that do not change stay, so they are copied to the list. */
TAMIS_INLINE void attic_keep_words(const gpu_change *change) {
    attic_view const attic = gpu_attic_view(&change->table);
    for (uint64_t place = gpu_first(); place < attic_places(&attic); place += gpu_step()) {
        uint64_t const word = attic_word(&attic, place);
        /* A word that belongs to no bucket comes from a damaged body that was not checked. */
        if (word == 0 || attic_bucket(word) >= change->table.lines.buckets) continue;
        uint64_t const group = attic_bucket(word) / SHELF_BUCKETS;
        uint32_t const begin = group == 0 ? 0 : change->ends[group - 1];
        if (begin != change->ends[group]) continue;
        uint64_t const at = gpu_add64(&change->tally->words, 1);
        if (at >= attic.room) continue;
        change->words[at] = word;
        if (change->rests != NULL) change->rests[at] = attic_rest(&attic, place);
    }
}

TAMIS_INLINE void attic_group(const gpu_attic *job, bool is_counting) {
    attic_view const attic = gpu_attic_view(&job->table);
    for (uint64_t i = gpu_first(); i < job->n; i += gpu_step()) {
        uint64_t const home = attic_home(&attic, attic_bucket(job->words[i]));
        uint32_t const to = gpu_add32(&job->ends[home], 1);
        if (is_counting) continue;
        job->sorted_words[to] = job->words[i];
        if (job->rests != NULL) job->sorted_rests[to] = job->rests[i];
    }
}

/* Does word a, with its rest, come after word b? */
TAMIS_INLINE bool attic_follows(const gpu_attic *job, uint64_t i, uint64_t word, uint64_t rest) {
    if (job->sorted_words[i] != word) return job->sorted_words[i] > word;
    return job->rests != NULL && job->sorted_rests[i] > rest;
}

/* Put the words of a home in order: an insertion sort. */
TAMIS_INLINE void attic_sort_home(const gpu_attic *job, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin + 1; i < end; i++) {
        uint64_t const word = job->sorted_words[i];
        uint64_t const rest = job->rests != NULL ? job->sorted_rests[i] : 0;
        uint32_t       to = i;
        for (; to > begin && attic_follows(job, to - 1, word, rest); to--) {
            job->sorted_words[to] = job->sorted_words[to - 1];
            if (job->rests != NULL) job->sorted_rests[to] = job->sorted_rests[to - 1];
        }
        job->sorted_words[to] = word;
        if (job->rests != NULL) job->sorted_rests[to] = rest;
    }
}

TAMIS_INLINE void attic_sort_homes(const gpu_attic *job) {
    for (uint64_t home = gpu_first(); home < job->table.lines.homes; home += gpu_step())
        attic_sort_home(job, home == 0 ? 0 : job->ends[home - 1], job->ends[home]);
}

/* home(i) - i + n: n is added so that it is never negative. */
TAMIS_INLINE void attic_find_distances(const gpu_attic *job) {
    attic_view const attic = gpu_attic_view(&job->table);
    for (uint64_t i = gpu_first(); i < job->n; i += gpu_step())
        job->places[i] = attic_home(&attic, attic_bucket(job->sorted_words[i])) + job->n - i;
}

/* Write a field whose bits are zero now, and which may be in two words. It is done with atomic
 * operations, since other threads write other fields of these words at the same time. */
TAMIS_INLINE void attic_or_field(uint8_t *body, uint64_t bit, uint64_t value) {
    uint64_t *const words = (uint64_t *)(body + bit / 64 * 8);
    unsigned const  shift = bit % 64;
    if (value << shift != 0) (void)gpu_or64(words, value << shift);
    if (shift != 0 && value >> (64 - shift) != 0) (void)gpu_or64(words + 1, value >> (64 - shift));
}

/* Write all words to their places. The prefix maxima are computed, and the attic is all zero. */
TAMIS_INLINE void attic_write_words(const gpu_attic *job) {
    attic_view const attic = gpu_attic_view(&job->table);
    for (uint64_t i = gpu_first(); i < job->n; i += gpu_step()) {
        uint64_t const place = job->places[i] + i - job->n;
        uint8_t *const to = attic_at(&attic, place);
        for (unsigned byte = 0; byte < attic.word_bits / 8; byte++)
            to[byte] = (uint8_t)(job->sorted_words[i] >> 8 * byte);
        if (job->rests != NULL)
            attic_or_field(attic.body, attic.rests + place * attic.rest_bits, job->sorted_rests[i]);
    }
}

#endif
