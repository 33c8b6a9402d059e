/* sample.h - how many different keys are there, and how often does each come?
 *
 * A sample of the keys by their hashes: it holds every key whose hash begins with `shift` zero
 * bits, with its exact number of copies. When the sample is full, `shift` grows by one and half of
 * the keys leave it. So the memory is bounded, and up to SAMPLE_KEYS different keys are counted
 * exactly. The sample is fair: whether a key is in it depends on its hash alone, and not on how
 * often it comes.
 */
#ifndef CLI_SAMPLE_H
#define CLI_SAMPLE_H

#include <stdint.h>

#define SAMPLE_KEYS ((uint32_t)1 << 18) /* in 8 MiB */

typedef struct sample_entry {
    uint64_t hash;
    uint64_t copies; /* 0: an empty place */
} sample_entry;

typedef struct key_sample {
    sample_entry *entries; /* a hash table of 2 * SAMPLE_KEYS places */
    uint32_t      n;
    unsigned      shift;
} key_sample;

void sample_begin(key_sample *ret_sample);
void sample_end(key_sample *sample);

/* This many copies of a key. */
void sample_add(key_sample *sample, uint64_t hash, uint64_t copies);

/* An upper bound of the number of different keys: exact if all are in the sample, otherwise four
 * standard deviations above the estimate. */
uint64_t sample_distinct(const key_sample *sample);

/* The most copies that a key of the sample has. */
uint64_t sample_most_copies(const key_sample *sample);

/* An upper bound of the number of copies of all keys together, if at most `most` copies of each are
 * counted: as exact as sample_distinct(). */
uint64_t sample_copies(const key_sample *sample, uint64_t most);

#endif
