/* dump.c - a table driven from outside, by hashes: for check-oracle.
 *
 * Reads lines and answers each with one:
 *
 *     set KIND GEOMETRY               a new table         ok
 *     add H, remove H                                     ok, full, absent
 *     has H                                               yes, no
 *     count H                                             a number, or many
 *     balance H H ...                 add together        how many
 *     body                            what there is       keys saturated moved, and the body in hex
 *
 * Hashes are hexadecimal, and go to the kind as they are: keys and the front door are left out.
 */
#include "handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES (1 << 20)
#define MAX_BALANCED 4096

static _Noreturn void give_up(const char *why) {
    (void)fprintf(stderr, "dump: %s\n", why);
    exit(1);
}

static tamis_set *make(char *line) {
    tamis_spec    spec = TAMIS_SPEC_INIT;
    tamis_seed    seed = { 1, 2 };
    tamis_problem problem;
    tamis_set    *set = NULL;
    char         *rest = NULL;
    spec.kind = strtok_r(line, " ", &rest);
    spec.capacity = 1; /* no promise: some are made to overflow */
    spec.geometry = rest;
    spec.seed = &seed;
    if (tamis_create(&spec, &set, &problem) != TAMIS_OK) give_up(problem.text);
    (void)puts("ok");
    return set;
}

static void print_status(tamis_status status) {
    (void)puts(status == TAMIS_OK           ? "ok"
               : status == TAMIS_ERR_FULL   ? "full"
               : status == TAMIS_ERR_ABSENT ? "absent"
                                            : "something else");
}

static void print_count(uint64_t count) {
    if (count == TAMIS_COUNT_MANY)
        (void)puts("many");
    else
        (void)printf("%" PRIu64 "\n", count);
}

static void balance(tamis_set *set, char *rest) {
    static uint64_t hash[MAX_BALANCED];
    uint64_t        n = 0;
    for (char *word; n < MAX_BALANCED && (word = strtok_r(NULL, " ", &rest)) != NULL; n++) {
        hash[n] = strtoull(word, NULL, 16);
    }
    uint8_t *const scratch = malloc((size_t)set->kind->balance_bytes(&set->table, n));
    if (scratch == NULL) give_up("no memory");
    print_count(set->kind->add_balanced(&set->table, hash, n, scratch));
    free(scratch);
}

static void print_body(const tamis_set *set) {
    const tamis_table *const table = &set->table;
    const char              *why = "";
    if (!set->kind->validate(table, &why)) give_up(why);
    (void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " ", table->keys, table->saturated,
                 table->moved);
    for (uint64_t i = 0; i < table->body_bytes; i++) (void)printf("%02x", table->body[i]);
    (void)putchar('\n');
}

static void obey(tamis_set *set, char *line) {
    char             *rest = NULL;
    const char *const verb = strtok_r(line, " ", &rest);
    tamis_table      *table = &set->table;
    uint64_t const    hash = strtoull(rest, NULL, 16);
    if (strcmp(verb, "add") == 0)
        print_status(set->kind->add(table, hash));
    else if (strcmp(verb, "remove") == 0)
        print_status(set->kind->remove(table, hash));
    else if (strcmp(verb, "has") == 0)
        (void)puts(set->kind->has(table, hash) ? "yes" : "no");
    else if (strcmp(verb, "count") == 0)
        print_count(set->kind->count(table, hash));
    else if (strcmp(verb, "balance") == 0)
        balance(set, rest);
    else if (strcmp(verb, "body") == 0)
        print_body(set);
    else
        give_up("a line that is not understood");
}

int main(void) {
    static char line[LINE_BYTES];
    tamis_set  *set = NULL;
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "set ", 4) == 0) {
            tamis_free(set);
            set = make(line + 4);
        } else {
            if (set == NULL) give_up("no set yet");
            obey(set, line);
        }
    }
    tamis_free(set);
    return 0;
}
