/* signals.c - see signals.h. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "message.h"

/* Reading a mapped file behind its end: somebody has shortened it under our hands. */
static void on_bus_error(int signal_number) {
    (void)signal_number;
    static const char text[] = "tamis: the file of the set was shortened while it was in use\n";
    ssize_t const     put = write(STDERR_FILENO, text, sizeof text - 1);
    (void)put;
    _exit(EXIT_TROUBLE);
}

static void signal_set(int number, void (*handler)(int)) {
    struct sigaction action = { .sa_handler = handler };
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void signals_begin(void) {
    signal_set(SIGPIPE, SIG_IGN);
    signal_set(SIGXFSZ, SIG_IGN);
    signal_set(SIGBUS, on_bus_error);
}

static void mask_endings(int how) {
    sigset_t endings;
    (void)sigemptyset(&endings);
    (void)sigaddset(&endings, SIGINT);
    (void)sigaddset(&endings, SIGTERM);
    (void)sigaddset(&endings, SIGHUP);
    (void)sigaddset(&endings, SIGQUIT);
    (void)sigprocmask(how, &endings, NULL);
}

void signals_hold(void) {
    mask_endings(SIG_BLOCK);
}

void signals_release(void) {
    mask_endings(SIG_UNBLOCK);
}
