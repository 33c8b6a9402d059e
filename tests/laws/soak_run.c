/* soak_run.c - see soak.h. */
#include "soak.h"

/* ------------------------------------------------------------------ options */

typedef struct soak_options {
    uint64_t    operations, seed;
    const char *kind;    /* NULL: all */
    const char *journal; /* NULL: none */
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
    if (strcmp(name, "--journal") == 0) options->journal = value;
    return strcmp(name, "--kind") == 0 || strcmp(name, "--journal") == 0;
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

/* ------------------------------------------------------------------ the journal */

#define NAME_BYTES 256

/* One word, so that a line of the journal is easily read. */
static void name_subject(const subject *variant, uint64_t seed, char *ret_name) {
    (void)snprintf(
        ret_name, NAME_BYTES, "%s/%s/n=%llu..%llu,c=%llu/e=%g/a=%u,h=%u/v=%llu,%llu/%s/%llu",
        variant->kind, variant->isa, (unsigned long long)variant->capacity,
        (unsigned long long)variant->grow_to, (unsigned long long)variant->copies, variant->fpr,
        variant->abilities, (unsigned)variant->hash, (unsigned long long)variant->values,
        (unsigned long long)variant->timeout,
        variant->geometry != NULL ? variant->geometry : "planned", (unsigned long long)seed);
}

static void tally_add(soak_tally *sum, const soak_tally *more) {
    for (unsigned i = 0; i < SOAK_FIGURES; i++) sum->figures[i] += more->figures[i];
}

/* "NAME LIFE FIGURE FIGURE ...", one line in one write: a line that is whole is true. */
static void journal_append(const char *path, const char *name, uint64_t life,
                           const soak_tally *tally) {
    FILE *const file = path != NULL ? fopen(path, "a") : NULL;
    if (file == NULL) return;
    (void)fprintf(file, "%s %llu", name, (unsigned long long)life);
    for (unsigned i = 0; i < SOAK_FIGURES; i++) (void)fprintf(file, " %.17g", tally->figures[i]);
    (void)fprintf(file, " .\n");
    (void)fclose(file);
}

/* The figures of a line that is about `name` and is whole. */
static bool journal_read_line(char *line, const char *name, soak_tally *ret_tally) {
    size_t const length = strlen(name);
    if (strncmp(line, name, length) != 0 || line[length] != ' ') return false;
    char *at = line + length;
    (void)strtoull(at, &at, 10);
    for (unsigned i = 0; i < SOAK_FIGURES; i++) ret_tally->figures[i] = strtod(at, &at);
    return strcmp(at, " .\n") == 0;
}

/* How many lives of a subject are in the journal; their figures are added. */
static uint64_t journal_lives(const char *path, const char *name, soak_tally *sum) {
    FILE *const file = path != NULL ? fopen(path, "r") : NULL;
    uint64_t    lives = 0;
    char        line[1024];
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        soak_tally one;
        if (!journal_read_line(line, name, &one)) continue;
        tally_add(sum, &one);
        lives++;
    }
    (void)fclose(file);
    return lives;
}

/* ------------------------------------------------------------------ what is told */

/* 95% interval of a rate of which `hits` of n were seen (Wilson). */
static void tell_rate(double hits, double n) {
    double const z = 1.96, rate = hits / n,
                 half = z * sqrt(rate * (1 - rate) / n + z * z / 4 / n / n);
    double const middle = rate + z * z / 2 / n, scale = 1 + z * z / n;
    (void)printf("%.4g%% (%.4g to %.4g%%)", 100 * rate, 100 * (middle - half) / scale,
                 100 * (middle + half) / scale);
}

/* A false negative is a broken law, which ends its life, so none is left out. */
static void tell(const char *title, const soak_tally *sum, unsigned n_broken) {
    const double *const f = sum->figures;
    (void)printf("%s%.0f operations, %u broken laws, %.0f adds refused, %.0f entries saturated",
                 title, f[SOAK_OPERATIONS], n_broken, f[SOAK_REFUSED], f[SOAK_SATURATED]);
    if (f[SOAK_STRANGERS] > 0) {
        (void)printf("; fpr ");
        tell_rate(f[SOAK_HITS], f[SOAK_STRANGERS]);
        (void)printf(", foretold %.4g%%", 100 * f[SOAK_FORESEEN] / f[SOAK_STRANGERS]);
    }
    if (f[SOAK_ABSENT] > 0)
        (void)printf("; of %.0f removals of absent keys %.0f taken (bound %.0f), %.0f keys lost "
                     "(bound %.0f)",
                     f[SOAK_ABSENT], f[SOAK_TAKEN], f[SOAK_TAKEN_MOST], f[SOAK_LOST],
                     f[SOAK_LOST_MOST]);
    if (f[SOAK_PRESENT] > 0)
        (void)printf("; of %.0f present states %.0f unknown", f[SOAK_PRESENT], f[SOAK_UNKNOWN]);
    (void)printf("\n");
    (void)fflush(stdout);
}

/* Sums over all lives compared with the predictions: 4.75 sigma, one in a million by chance, and 1%
 * for the formulas. NULL, or what is wrong. */
static const char *judge(const soak_tally *sum) {
    const double *const f = sum->figures;
    double const        most = f[SOAK_FORESEEN] * 1.01 + 4.75 * sqrt(f[SOAK_FORESEEN]) + 5;
    double const        taken = f[SOAK_TAKEN_MOST] * 1.01 + 4.75 * sqrt(f[SOAK_TAKEN_MOST]) + 5;
    if (f[SOAK_HITS] > most)
        return because("%.0f false positives, at most %.0f", f[SOAK_HITS], most);
    if (f[SOAK_TAKEN] > taken)
        return because("%.0f absent keys were removed, at most %.0f", f[SOAK_TAKEN], taken);
    if (f[SOAK_LOST] > f[SOAK_LOST_MOST])
        return because("%.0f keys were lost, at most %.0f", f[SOAK_LOST], f[SOAK_LOST_MOST]);
    return NULL;
}

/* ------------------------------------------------------------------ the program */

/* A subject, what was counted of it so far, and how many lives of it are over. */
typedef struct soaked {
    const subject *variant;
    char           name[NAME_BYTES];
    soak_tally     sum;
    uint64_t       lives;
    bool           is_broken;
} soaked;

/* The next life, if there is one left. */
static void live_once(const soak *program, const soak_options *options, soaked *one) {
    uint64_t const done = one->lives * SOAK_LIFE;
    if (one->is_broken || done >= one->variant->operations) return;
    soak_tally        tally = { { 0 } };
    uint64_t const    seed = options->seed + one->lives * UINT64_C(1000003);
    uint64_t const    n = min_u64(one->variant->operations - done, SOAK_LIFE);
    const char *const why = program->life(one->variant, n, seed, &tally);
    one->is_broken = why != NULL;
    if (why != NULL)
        (void)printf("BROKEN in life %llu of %s: %s\n", (unsigned long long)one->lives, one->name,
                     why);
    else
        journal_append(options->journal, one->name, one->lives, &tally);
    (void)fflush(stdout);
    tally_add(&one->sum, &tally);
    one->lives++;
}

/* The subjects that are asked for, as far as the journal has them. Returns how many. */
static size_t begin(const soak *program, const soak_options *options, const subject *all, size_t n,
                    soaked *ret_soaked) {
    size_t n_soaked = 0;
    for (size_t i = 0; i < n; i++) {
        soaked *const one = &ret_soaked[n_soaked];
        if (options->kind != NULL && strcmp(options->kind, all[i].kind) != 0) continue;
        if (!program->is_soaked(&all[i])) continue;
        *one = (soaked){ .variant = &all[i] };
        name_subject(&all[i], options->seed, one->name);
        one->lives = journal_lives(options->journal, one->name, &one->sum);
        n_soaked++;
    }
    return n_soaked;
}

/* Print the results of each subject, and the sums. Returns how many broke a law. */
static int tell_all(soaked *one, size_t n) {
    soak_tally total = { { 0 } };
    int        n_broken = 0;
    unsigned   broken_laws = 0;
    for (size_t i = 0; i < n; i++) {
        const char *const why = one[i].is_broken ? "broken" : judge(&one[i].sum);
        (void)printf("%s: %s", one[i].name, why != NULL ? why : "");
        tell(why != NULL ? "; " : "", &one[i].sum, one[i].is_broken);
        broken_laws += one[i].is_broken;
        n_broken += why != NULL;
        tally_add(&total, &one[i].sum);
    }
    tell("in all: ", &total, broken_laws);
    return n_broken;
}

int soak_run(const soak *program, int argc, char **argv) {
    soak_options const options = read_options(program->usage, argc, argv);
    size_t             n_all;
    subject *const     all = program->list(options.operations, &n_all);
    soaked *const      some = calloc(n_all, sizeof *some);
    assert(all != NULL && some != NULL);
    size_t const n = begin(program, &options, all, n_all, some);
    for (uint64_t done = 0; done < options.operations; done += SOAK_LIFE) {
        for (size_t i = 0; i < n; i++) {
            if (some[i].lives <= done / SOAK_LIFE) live_once(program, &options, &some[i]);
        }
    }
    int const n_broken = tell_all(some, n);
    free(some);
    free(all);
    (void)printf("%d passed, %d failed\n", (int)n - n_broken, n_broken);
    return n_broken != 0 || n == 0;
}
