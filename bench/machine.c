/* machine.c - facts about the machine that runs the bench. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void strip_newline(char *text) {
    text[strcspn(text, "\n")] = '\0';
}

/* The "model name" line of /proc/cpuinfo. Other architectures have other words, or none. */
static void read_cpu(char *ret_cpu, size_t bytes) {
    (void)snprintf(ret_cpu, bytes, "unknown");
    FILE *const file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        const char *const colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        (void)snprintf(ret_cpu, bytes, "%s", colon + 1 + strspn(colon + 1, " "));
        strip_newline(ret_cpu);
        break;
    }
    (void)fclose(file);
}

/* The file holds "always [madvise] never"; take the word in brackets. */
static void read_huge_pages(char *ret_word, size_t bytes) {
    (void)snprintf(ret_word, bytes, "unknown");
    FILE *const file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (file == NULL) return;
    char              line[128] = "";
    const char *const got = fgets(line, sizeof line, file);
    const char *const open = got == NULL ? NULL : strchr(line, '[');
    if (open != NULL) {
        size_t const length = strcspn(open + 1, "]");
        (void)snprintf(ret_word, bytes, "%.*s", (int)length, open + 1);
    }
    (void)fclose(file);
}

/* Read a line of a file in /sys about a cache of this processor. "": there is none. */
static void read_cache_file(int cpu, int index, const char *name, char *ret_line, size_t bytes) {
    char path[96];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index,
                   name);
    ret_line[0] = '\0';
    FILE *const file = fopen(path, "r");
    if (file == NULL) return;
    if (fgets(ret_line, (int)bytes, file) != NULL) strip_newline(ret_line);
    (void)fclose(file);
}

/* From /sys and not from sysconf(), which reports the level 3 cache of the whole host to guests. */
static void read_caches(int cpu, long ret_bytes[N_CACHES]) {
    for (int index = 0; index < 8; index++) {
        char level[16], type[16], kilobytes[16];
        read_cache_file(cpu, index, "level", level, sizeof level);
        read_cache_file(cpu, index, "type", type, sizeof type);
        read_cache_file(cpu, index, "size", kilobytes, sizeof kilobytes);
        int const at = atoi(level) - 1;
        if (at < 0 || at >= N_CACHES || strcmp(type, "Instruction") == 0) continue;
        ret_bytes[at] = atol(kilobytes) << 10;
    }
}

bench_machine machine_look(int pinned_to) {
    bench_machine machine = { .compiler = __VERSION__, .pinned_to = pinned_to };
    read_cpu(machine.cpu, sizeof machine.cpu);
    read_huge_pages(machine.huge_pages, sizeof machine.huge_pages);
    read_caches(pinned_to < 0 ? 0 : pinned_to, machine.cache_bytes);
    machine.page_bytes = sysconf(_SC_PAGESIZE);
    return machine;
}
