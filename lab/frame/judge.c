/* judge.c - compares a row's measured value by its rule, and the printed value with theory. See
 * lab.h. */
#include "lab.h"

#include "theory/tails.h"

#include <math.h>
#include <stdlib.h>

#define SAME 1e-12 /* relative: two ways to compute the same number differ by less */

/* ------------------------------------------------------------------ measured against exact */

static double sigma_used(const lab_measured *measured) {
    return measured->sigma_theory > 0 ? measured->sigma_theory : measured->sigma_trials;
}

const char *lab_sigma_source(const lab_measured *measured) {
    if (measured->trials == 0 || sigma_used(measured) <= 0) return "";
    return measured->sigma_theory > 0 ? "theory" : "trials";
}

const char *lab_rule_text(const lab_row *row, char *buffer, size_t bytes) {
    switch (row->rule) {
    case LAB_SIGMA: (void)snprintf(buffer, bytes, "%g sigma", row->tolerance); break;
    case LAB_RELATIVE: (void)snprintf(buffer, bytes, "%g%%", 100 * row->tolerance); break;
    case LAB_EQUAL: (void)snprintf(buffer, bytes, "equal"); break;
    case LAB_COUNT: (void)snprintf(buffer, bytes, "p >= %g", row->tolerance); break;
    case LAB_AT_MOST: (void)snprintf(buffer, bytes, "at most"); break;
    }
    return buffer;
}

static bool is_same(double a, double b) {
    return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

/* The probability that a Poisson count deviates as much as this one, to either side. */
static double count_probability(double mean, double count) {
    double const above = tamis_poisson_tail(mean, count);
    double const below = 1 - tamis_poisson_tail(mean, count + 1);
    return fmin(1, 2 * fmin(above, below));
}

static double deviation_of(const lab_row *row, double sigma) {
    double const off = row->measured.value - row->exact;
    switch (row->rule) {
    case LAB_SIGMA: return off / sigma;
    case LAB_RELATIVE:
    case LAB_AT_MOST: return off / fabs(row->exact);
    case LAB_COUNT: return count_probability(row->exact, row->measured.value);
    case LAB_EQUAL: break;
    }
    return is_same(row->measured.value, row->exact) ? 0 : off;
}

/* NaN fails every rule. */
static bool is_within(const lab_row *row, double deviation) {
    switch (row->rule) {
    case LAB_SIGMA:
    case LAB_RELATIVE: return fabs(deviation) <= row->tolerance;
    case LAB_COUNT: return deviation >= row->tolerance;
    case LAB_AT_MOST: return deviation <= 0;
    case LAB_EQUAL: break;
    }
    return deviation == 0;
}

/* ------------------------------------------------------------------ published against exact */

/* A printed number: the interval of values that would be printed like this. */
typedef struct printed {
    double value, low, high;
} printed;

/* One unit of the last printed digit: "0.0153" is 1e-4, "6.79e-17" is 1e-19, "-26.3" is 0.1. */
static double last_digit(const char *number) {
    int         decimals = 0;
    bool        is_behind_point = false;
    const char *at = number + (*number == '-');
    for (; *at == '.' || (*at >= '0' && *at <= '9'); at++) {
        if (at[0] == '.' && at[1] == '.') break;
        decimals += is_behind_point;
        is_behind_point |= *at == '.';
    }
    long const exponent = *at == 'e' ? strtol(at + 1, NULL, 10) : 0;
    return pow(10, (double)(exponent - decimals));
}

static bool is_cut_off(const char *text) {
    size_t const length = strlen(text);
    return length > 3 && strcmp(text + length - 3, "...") == 0;
}

static printed parse_printed(const char *text) {
    bool const        is_side = *text == '<' || *text == '>';
    const char *const number = text + is_side;
    double const      value = strtod(number, NULL), unit = last_digit(number);
    if (*text == '<') return (printed){ value, value - unit, value };
    if (*text == '>' || is_cut_off(text)) return (printed){ value, value, value + unit };
    return (printed){ value, value - unit / 2, value + unit / 2 };
}

/* A value that the authors measured may also be off by their own sampling error. */
static bool is_printed_right(const lab_row *row) {
    printed const paper = parse_printed(row->published);
    double const  slack = 4 * row->published_sigma + SAME * fabs(paper.value);
    return row->exact >= paper.low - slack && row->exact <= paper.high + slack;
}

/* How far the printed value is off, in words. */
static void say_printed_off(const lab_row *row, char *text, size_t bytes) {
    double const ratio = parse_printed(row->published).value / row->exact;
    if (fabs(ratio - 1) < 0.5) {
        (void)snprintf(text, bytes, "%.2g%% too %s", 100 * fabs(ratio - 1),
                       ratio > 1 ? "large" : "small");
    } else {
        (void)snprintf(text, bytes, "%.3g times too %s", ratio > 1 ? ratio : 1 / ratio,
                       ratio > 1 ? "large" : "small");
    }
}

bool lab_is_judged(const lab_row *row) {
    return row->measured.trials != 0 || row->published != NULL;
}

static lab_verdict judge_printed(const lab_row *row, char *text, size_t bytes) {
    bool const is_right = row->published == NULL || is_printed_right(row);
    char       off[64];
    if (is_right && row->flaw != NULL) {
        (void)snprintf(text, bytes, "OUT OF TOLERANCE: %s is right, but a flaw is noted",
                       row->published != NULL ? row->published : "nothing printed");
        return LAB_OUT;
    }
    if (is_right) {
        (void)snprintf(text, bytes, lab_is_judged(row) ? "agrees" : "calculated");
        return LAB_AGREES;
    }
    const char *const about_us = row->measured.trials != 0 ? "agrees" : "computed";
    say_printed_off(row, off, sizeof off);
    (void)snprintf(text, bytes, "%s; the paper's printed value is %s, %s",
                   row->flaw != NULL ? about_us : "OUT OF TOLERANCE", row->published, off);
    return row->flaw != NULL ? LAB_PAPER_DIFFERS : LAB_OUT;
}

/* ------------------------------------------------------------------ both */

lab_judgement lab_judge(const lab_row *row) {
    lab_judgement judgement = { .verdict = LAB_OUT };
    bool          is_near = isfinite(row->exact);
    if (row->measured.trials != 0) {
        judgement.sigma = sigma_used(&row->measured);
        judgement.deviation = deviation_of(row, judgement.sigma);
        is_near &= is_within(row, judgement.deviation);
    }
    if (is_near)
        judgement.verdict = judge_printed(row, judgement.text, sizeof judgement.text);
    else
        (void)snprintf(judgement.text, sizeof judgement.text, "OUT OF TOLERANCE");
    return judgement;
}
