/* patience.c - in each fuzz target: an input that takes 25 seconds of processor time is a fault.
 *
 * libFuzzer's own limit (-timeout) counts the time of a clock. Where several targets share a core,
 * an input can exceed it that did nothing wrong. Here a signal comes after each second of processor
 * time that the process has used, with all its threads. The linker puts this file between libFuzzer
 * and the target (--wrap).
 */
#include "fuzz.h"

#include <signal.h>
#include <sys/time.h>

enum { PATIENCE = 25 };

int __real_LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static volatile sig_atomic_t seconds_of_this_input;

/* libFuzzer keeps the input of a process that aborts, and prints where it was. */
static void this_input_takes_too_long(void) { abort(); }

static void a_second_has_passed(int number) {
    (void)number;
    seconds_of_this_input = seconds_of_this_input + 1;
    if (seconds_of_this_input > PATIENCE) this_input_takes_too_long();
}

__attribute__((constructor)) static void count_the_seconds(void) {
    struct sigaction const how = {.sa_handler = a_second_has_passed, .sa_flags = SA_RESTART};
    struct timeval const   second = {.tv_sec = 1};
    struct itimerval const always = {.it_interval = second, .it_value = second};
    must(sigaction(SIGPROF, &how, NULL) == 0 && setitimer(ITIMER_PROF, &always, NULL) == 0);
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    seconds_of_this_input = 0;
    return __real_LLVMFuzzerTestOneInput(bytes, n);
}
