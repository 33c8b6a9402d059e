/* progress.c - see progress.h. There is one terminal and one line, so the state is static. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "numbers.h"

#define FIRST_SECONDS 1.0
#define EVERY_SECONDS 0.2

static bool     is_wanted, is_shown, is_stopped;
static double   began, due;
static uint64_t total;

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void progress_begin(uint64_t total_bytes) {
    is_wanted = !is_stopped && isatty(STDERR_FILENO);
    if (!is_wanted) return;
    total = total_bytes;
    began = now();
    due = began + FIRST_SECONDS;
}

/* ", 43%, 12 s left", if the total is known. */
static void progress_left(double seconds, uint64_t bytes) {
    if (total == 0 || bytes == 0 || bytes > total) return;
    double const done = (double)bytes / (double)total;
    double const left = seconds * (1 - done) / done;
    if (left >= 90) {
        (void)fprintf(stderr, ", %.0f%%, %.0f min left", 100 * done, left / 60);
    } else {
        (void)fprintf(stderr, ", %.0f%%, %.0f s left", 100 * done, left);
    }
}

double progress_due(void) {
    double const time = is_wanted ? now() : 0;
    if (!is_wanted || time < due) return 0;
    due = time + EVERY_SECONDS;
    return time - began;
}

void progress_show(const char *text, double seconds, uint64_t bytes) {
    is_shown = true;
    (void)fprintf(stderr, "\r\033[K%s", text);
    progress_left(seconds, bytes);
    (void)fflush(stderr);
}

void progress_step(uint64_t keys, uint64_t bytes) {
    double const seconds = progress_due();
    number_text  so_far, rate;
    char         text[2 * sizeof(number_text) + 16];
    if (seconds <= 0) return;
    number_short((double)keys, so_far);
    number_short((double)keys / seconds, rate);
    (void)snprintf(text, sizeof text, "%s keys, %s/s", so_far, rate);
    progress_show(text, seconds, bytes);
}

void progress_bytes(uint64_t bytes) {
    double const seconds = progress_due();
    number_text  so_far, rate;
    char         text[2 * sizeof(number_text) + 16];
    if (seconds <= 0) return;
    number_size(bytes, so_far);
    number_size((uint64_t)((double)bytes / seconds), rate);
    (void)snprintf(text, sizeof text, "%s, %s/s", so_far, rate);
    progress_show(text, seconds, bytes);
}

void progress_stop(void) {
    progress_hide();
    is_wanted = false;
    is_stopped = true;
}

void progress_hide(void) {
    if (is_shown) (void)fputs("\r\033[K", stderr);
    is_shown = false;
}
