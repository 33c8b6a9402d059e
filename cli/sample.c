/* sample.c - see sample.h. */
#include "sample.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "message.h"

#define PLACES (2 * (uint64_t)SAMPLE_KEYS)

void sample_begin(key_sample *ret_sample) {
    *ret_sample = (key_sample){ .entries = calloc(PLACES, sizeof(sample_entry)) };
    if (ret_sample->entries == NULL) {
        die("not enough memory: needs %zu KiB to count lines that repeat; give a number to -n",
            (size_t)PLACES * sizeof(sample_entry) / 1024);
    }
}

void sample_end(key_sample *sample) {
    free(sample->entries);
    sample->entries = NULL;
}

static bool is_sampled(const key_sample *sample, uint64_t hash) {
    return sample->shift == 0 || hash >> (64 - sample->shift) == 0;
}

/* The place of the hash, or the empty place where it would be. The low bits choose the first place;
 * `shift` uses the high ones. */
static sample_entry *sample_find(const key_sample *sample, uint64_t hash) {
    uint64_t place = hash % PLACES;
    while (sample->entries[place].copies != 0 && sample->entries[place].hash != hash) {
        place = (place + 1) % PLACES;
    }
    return &sample->entries[place];
}

/* Keep half of the keys: those that begin with one more zero bit. */
static void sample_halve(key_sample *sample) {
    key_sample smaller;
    sample_begin(&smaller);
    smaller.shift = sample->shift + 1;
    for (uint64_t i = 0; i < PLACES; i++) {
        const sample_entry *const entry = &sample->entries[i];
        if (entry->copies == 0 || !is_sampled(&smaller, entry->hash)) continue;
        *sample_find(&smaller, entry->hash) = *entry;
        smaller.n++;
    }
    sample_end(sample);
    *sample = smaller;
}

void sample_add(key_sample *sample, uint64_t hash, uint64_t copies) {
    if (!is_sampled(sample, hash) || copies == 0) return;
    sample_entry *const entry = sample_find(sample, hash);
    bool const          is_new = entry->copies == 0;
    entry->hash = hash;
    entry->copies += copies;
    if (is_new && ++sample->n == SAMPLE_KEYS) sample_halve(sample);
}

/* Each of N keys is in the sample with probability p = 2^-shift. If n of them are, N is about n/p,
 * with a standard deviation of sqrt(n (1 - p)) / p. */
uint64_t sample_distinct(const key_sample *sample) {
    if (sample->shift == 0) return sample->n;
    double const scale = ldexp(1, (int)sample->shift), n = sample->n;
    return (uint64_t)(scale * (n + 4 * sqrt(n)) + 1);
}

uint64_t sample_most_copies(const key_sample *sample) {
    uint64_t most = 0;
    for (uint64_t i = 0; i < PLACES; i++) {
        if (sample->entries[i].copies > most) most = sample->entries[i].copies;
    }
    return most;
}

/* Each key is in the sample with probability p = 2^-shift. The number of copies in it, divided by
 * p, has a standard deviation of at most sqrt(sum of c^2) / p, for keys with c copies. */
uint64_t sample_copies(const key_sample *sample, uint64_t most) {
    double const scale = ldexp(1, (int)sample->shift);
    double       sum = 0, squares = 0;
    for (uint64_t i = 0; i < PLACES; i++) {
        uint64_t const copies = sample->entries[i].copies;
        double const   counted = (double)(copies < most ? copies : most);
        sum += counted;
        squares += counted * counted;
    }
    if (sample->shift == 0) return (uint64_t)sum;
    return (uint64_t)(scale * (sum + 4 * sqrt(squares)) + 1);
}
