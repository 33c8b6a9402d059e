/* machine_file.c - see machine_file.h. */
#include "machine_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

#define MAX_MACHINE_BYTES 65536

static const machine_shipped *find_shipped(const char *name) {
    for (size_t i = 0; machine_shipped_at(i) != NULL; i++) {
        if (strcmp(machine_shipped_at(i)->name, name) == 0) return machine_shipped_at(i);
    }
    return NULL;
}

/* n bytes were read, one more than a machine may have. */
static _Noreturn void refuse_length(const char *name, const char *text, size_t n) {
    unsigned line = 1;
    for (size_t i = 0; i < n; i++) line += text[i] == '\n';
    die("%s:%u: a machine has at most %zu bytes, and this file is longer", name, line, n - 1);
}

/* Read a machine's file. An error ends the program. */
static size_t load_text(const char *name, char *ret_text, size_t max) {
    FILE *const file = fopen(name, "r");
    if (file == NULL) die("%s: %s", name, strerror(errno));
    size_t const n = fread(ret_text, 1, max, file);
    int const    error = errno;
    if (ferror(file) != 0) die("%s: %s", name, strerror(error));
    (void)fclose(file);
    if (n == max) refuse_length(name, ret_text, n);
    return n;
}

void machine_load(machine *ret_machine, const char *name) {
    static char                  buffer[MAX_MACHINE_BYTES + 1];
    const machine_shipped *const shipped = find_shipped(name);
    const char *const            text = shipped != NULL ? shipped->text : buffer;
    size_t const    n = shipped != NULL ? shipped->n : load_text(name, buffer, sizeof buffer);
    machine_problem problem;
    if (!machine_read(text, n, ret_machine, &problem))
        die("%s:%u: %s", name, problem.line, problem.text);
}
