/* numbers.h - read and write numbers as people write them: 10M keys, 0.1%, 16MiB.
 *
 * A number_read function returns NULL if the text is right, or else a message: what is wrong and
 * how to write it.
 */
#ifndef COMMON_NUMBERS_H
#define COMMON_NUMBERS_H

#include <stdint.h>

#include <tamis/tamis.h>

const char *number_read_count(const char *text, uint64_t *ret_count); /* 1000, 10k, 1.5M */
const char *number_read_rate(const char *text, double *ret_rate);     /* 0.1%, 1e-6, 1/1000 */
const char *number_read_size(const char *text, uint64_t *ret_bytes);  /* 4096, 16MiB, 1.5G */
const char *number_read_time(const char *text, uint64_t *ret_ns);     /* 500ms, 10s, 5m, 2h, 1d */
const char *number_read_seed(const char *text, tamis_seed *ret_seed); /* 42, 0x1f: 128 bits */

typedef char number_text[48];

void number_exact(uint64_t value, number_text ret_text); /* 1,234,567 */
void number_short(double value, number_text ret_text);   /* 1.23M */
void number_rate(double rate, number_text ret_text);     /* 0.0998%, 2.3e-11 */
void number_size(uint64_t bytes, number_text ret_text);  /* 1.71 MiB */
void number_seed(tamis_seed seed, number_text ret_text); /* 0x and 32 digits */

#endif
