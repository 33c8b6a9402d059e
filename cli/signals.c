/* signals.c - see signals.h. */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

static const int endings[] = { SIGINT, SIGTERM, SIGHUP };

#define N_ENDINGS (sizeof endings / sizeof endings[0])

static volatile sig_atomic_t caught;                  /* the first signal, or 0 */
static struct timespec       caught_at;               /* CLOCK_MONOTONIC; for the handler alone */
static int                   wake_up[2] = { -1, -1 }; /* a pipe: the handler writes one byte */

/* The mapped file ends before the address that was read: another program has truncated it. */
static void on_bus_error(int number) {
    (void)number;
    static const char text[] = "tamis: the file was cut short while it was in use\n";
    ssize_t const     put = write(STDERR_FILENO, text, sizeof text - 1);
    (void)put;
    _exit(EXIT_TROUBLE);
}

/* A handler is not interrupted by another of these signals. */
static void signal_set(int number, void (*handler)(int)) {
    struct sigaction action = { .sa_handler = handler };
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < N_ENDINGS; i++) (void)sigaddset(&action.sa_mask, endings[i]);
    (void)sigaction(number, &action, NULL);
}

void signals_begin(void) {
    signal_set(SIGPIPE, SIG_IGN);
    signal_set(SIGXFSZ, SIG_IGN);
    signal_set(SIGBUS, on_bus_error);
}

/* ------------------------------------------------------------------ the end of the input */

/* timeout(1) signals the program and then its whole group, microseconds later; so do some service
 * managers. Signals that come this soon after the first one count as the same one. */
#define SAME_MS 500

static long ms_since_caught(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return SAME_MS;
    return (long)(now.tv_sec - caught_at.tv_sec) * 1000 +
           (now.tv_nsec - caught_at.tv_nsec) / 1000000;
}

/* A flag alone would be missed by a read(2) that begins just after the flag was checked; the byte
 * in the pipe stays until a poll. */
static void on_ending(int number) {
    int const error = errno;
    if (caught == 0) {
        (void)clock_gettime(CLOCK_MONOTONIC, &caught_at);
        caught = number;
        ssize_t const put = write(wake_up[1], "", 1);
        (void)put;
    } else if (ms_since_caught() >= SAME_MS) {
        signal_set(number, SIG_DFL);
        (void)raise(number); /* comes when this handler returns */
    }
    errno = error;
}

void signals_end_input(void) {
    if (pipe2(wake_up, O_CLOEXEC) != 0) return; /* signals then end the program, as elsewhere */
    for (size_t i = 0; i < N_ENDINGS; i++) {
        struct sigaction now;
        if (sigaction(endings[i], NULL, &now) != 0 || now.sa_handler == SIG_IGN) continue;
        signal_set(endings[i], on_ending);
    }
}

int signals_caught(void) {
    return caught;
}

int signals_descriptor(void) {
    return wake_up[0];
}

const char *signals_name(int number) {
    return number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : "SIGHUP";
}

void signals_end_if_caught(void) {
    if (caught == 0) return;
    signal_set(caught, SIG_DFL);
    (void)raise(caught);
}

/* ------------------------------------------------------------------ while saving */

static void mask_endings(int how) {
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < N_ENDINGS; i++) (void)sigaddset(&set, endings[i]);
    (void)sigaddset(&set, SIGQUIT);
    (void)sigprocmask(how, &set, NULL);
}

void signals_hold(void) {
    mask_endings(SIG_BLOCK);
}

void signals_release(void) {
    mask_endings(SIG_UNBLOCK);
}
