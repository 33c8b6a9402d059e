/* replay.c - run a fuzz target on files, without a fuzzer: corpora and regressions, in the tests.
 *
 * usage: replay FOLDER...      speaks TAP: a case for each folder
 *
 * A crash ends the program, and is a failure of the test.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

static void replay(const char *path) {
    static uint8_t all[1 << 20];
    FILE *const    file = fopen(path, "rb");
    if (file == NULL) return;
    size_t const n = fread(all, 1, sizeof all, file);
    (void)fclose(file);
    uint8_t *const bytes = malloc(
        n != 0 ? n : 1); /* a separate allocation, so that reads beyond the end are noticed */
    must(bytes != NULL);
    memcpy(bytes, all, n);
    (void)LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
}

/* Every file of a folder. Returns how many there are. */
static unsigned replay_folder(const char *path) {
    char                 name[4096];
    unsigned             n = 0;
    const struct dirent *entry;
    DIR *const           folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        replay(name);
        n++;
    }
    if (folder != NULL) (void)closedir(folder);
    return n;
}

int main(int argc, char **argv) {
    FILE *const tap = fdopen(dup(fileno(stdout)), "w"); /* targets may print */
    if (argc == 1 || tap == NULL || freopen("/dev/null", "w", stdout) == NULL) return 1;
    (void)fprintf(tap, "1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++) {
        unsigned const n = replay_folder(argv[i]);
        (void)fprintf(tap, "%s %d - %s: %u inputs\n", n != 0 ? "ok" : "not ok", i, argv[i], n);
        (void)fflush(tap);
    }
    return 0;
}
