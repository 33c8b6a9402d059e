/* soak_run.c - see soak.h. */
#include "soak.h"

#include <time.h>

double soak_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void soak_progress(uint64_t done, uint64_t operations, double since) {
    if (!isatty(STDERR_FILENO)) return;
    double const share = (double)done / (double)operations, spent = soak_seconds() - since;
    (void)fprintf(stderr, "\r  %3.0f%%, %.0f s left \r", 100 * share, spent * (1 / share - 1));
}

/* ------------------------------------------------------------------ options */

typedef struct soak_options {
    uint64_t    operations, seed;
    const char *kind; /* NULL: all */
} soak_options;

static bool read_number(const char *text, uint64_t *ret_number) {
    char *end;
    *ret_number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static bool read_option(const char *name, const char *value, soak_options *options) {
    if (value == NULL) return false;
    if (strcmp(name, "--ops") == 0) return read_number(value, &options->operations);
    if (strcmp(name, "--seed") == 0) return read_number(value, &options->seed);
    if (strcmp(name, "--kind") == 0) options->kind = value;
    return strcmp(name, "--kind") == 0;
}

/* Ends the program if it is asked for help or does not understand an option. */
static soak_options read_options(const char *usage, int argc, char **argv) {
    soak_options options = { .operations = 100000000, .seed = 1 };
    for (int i = 1; i < argc; i += 2) {
        bool const is_help = strcmp(argv[i], "--help") == 0;
        if (!is_help && read_option(argv[i], argv[i + 1], &options)) continue;
        const char *const value = i + 1 < argc ? argv[i + 1] : "";
        if (!is_help) (void)fprintf(stderr, "%s: bad option '%s %s'\n", argv[0], argv[i], value);
        (void)fprintf(is_help ? stdout : stderr, "%s", usage);
        exit(is_help ? 0 : 2);
    }
    return options;
}

/* ------------------------------------------------------------------ the program */

static void tell_subject(const subject *variant) {
    (void)printf("%s, %s, %llu keys", variant->kind, variant->isa,
                 (unsigned long long)variant->capacity);
    if (variant->values != 0)
        (void)printf(" of %llu values, timeout %llu", (unsigned long long)variant->values,
                     (unsigned long long)variant->timeout);
    (void)printf(", %s\n", variant->geometry != NULL ? variant->geometry : "planned");
    (void)fflush(stdout);
}

int soak_run(const soak *program, int argc, char **argv) {
    soak_options const options = read_options(program->usage, argc, argv);
    size_t             n;
    subject *const     all = program->list(options.operations, &n);
    int                n_broken = 0, n_done = 0;
    assert(all != NULL);
    for (size_t i = 0; i < n; i++) {
        const subject *const variant = &all[i];
        if (options.kind != NULL && strcmp(options.kind, variant->kind) != 0) continue;
        if (!program->is_soaked(variant)) continue;
        tell_subject(variant);
        const char *const why = program->life(variant, options.seed);
        if (why != NULL)
            (void)printf("  BROKEN with --seed %llu: %s\n", (unsigned long long)options.seed, why);
        n_broken += why != NULL;
        n_done++;
    }
    free(all);
    (void)printf("%d passed, %d failed\n", n_done - n_broken, n_broken);
    return n_broken != 0 || n_done == 0;
}
