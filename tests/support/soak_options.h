/* soak_options.h - what the soaks can be told, and nothing else: they run for hours. */
#ifndef TAMIS_TESTS_SOAK_OPTIONS_H
#define TAMIS_TESTS_SOAK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct soak_options {
    uint64_t    operations;
    uint64_t    seed;
    const char *kind; /* NULL: all */
} soak_options;

static inline bool soak_number(const char *text, uint64_t *ret) {
    char *end;
    *ret = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static inline bool soak_option(const char *name, const char *value, soak_options *options) {
    if (value == NULL) return false;
    if (strcmp(name, "--ops") == 0) return soak_number(value, &options->operations);
    if (strcmp(name, "--seed") == 0) return soak_number(value, &options->seed);
    if (strcmp(name, "--kind") == 0) options->kind = value;
    return strcmp(name, "--kind") == 0;
}

/* The options, or what is wrong with them: then the program ends here. */
static inline soak_options soak_options_or_exit(int argc, char **argv, const char *usage) {
    soak_options options = { .operations = 100000000, .seed = 1 };
    for (int i = 1; i < argc; i += 2) {
        bool const is_help = strcmp(argv[i], "--help") == 0;
        if (!is_help && soak_option(argv[i], argv[i + 1], &options)) continue;
        const char *const value = i + 1 < argc ? argv[i + 1] : "";
        if (!is_help) (void)fprintf(stderr, "%s: what is '%s %s'?\n", argv[0], argv[i], value);
        (void)fprintf(is_help ? stdout : stderr, "%s", usage);
        exit(is_help ? 0 : 2);
    }
    return options;
}

#endif
