/* dump.c - a table driven from outside, by hashes: for check-oracle.
 *
 * Reads lines and answers each with one:
 *
 *     set KIND GEOMETRY               a new table         ok
 *     add H, remove H                                     ok, full, absent
 *     has H                                               yes, no
 *     count H                                             a number, or many
 *     balance H H ...                 add together        how many
 *
 *     states KIND VALUES TIMEOUT TIMER_BITS TIMEOUTS GEOMETRY     ok; TIMEOUTS is - or T,T,...
 *     put H V, move H FROM V          FROM is V or any    ok, full, absent, unknown, conflict
 *     touch H, drop H FROM                                the same
 *     get H                                               ok V, or the same
 *     tick TICKS UNITS                time, and work      units owed, and what aged, by value
 *
 *     body                            what there is       keys saturated moved aged done due, and
 *                                                         the body in hex
 *
 * Hashes are hexadecimal, and go to the kind as they are: keys and the front door are left out.
 */
#include "handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES (1 << 20)
#define MAX_BALANCED 4096
#define MAX_VALUES 64

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

static uint64_t next_number(char **rest) {
    const char *const word = strtok_r(NULL, " ", rest);
    if (word == NULL) give_up("a number is missing");
    return strcmp(word, "any") == 0 ? TAMIS_ANY_VALUE : strtoull(word, NULL, 10);
}

/* "T,T,..." or "-". */
static const uint64_t *next_timeouts(char **rest, uint64_t values, uint64_t *timeouts) {
    char *word = strtok_r(NULL, " ", rest);
    if (word == NULL || values > MAX_VALUES) give_up("no timeouts, or too many values");
    if (strcmp(word, "-") == 0) return NULL;
    for (uint64_t i = 0; i < values; i++) {
        timeouts[i] = strtoull(word, &word, 10);
        if (*word == ',') word++;
    }
    return timeouts;
}

/* A table of states is a set with other public functions. */
static tamis_set *make_states(char *line) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_seed        seed = { 1, 2 };
    tamis_problem     problem;
    tamis_states     *states = NULL;
    uint64_t          timeouts[MAX_VALUES];
    char             *rest = NULL;
    spec.kind = strtok_r(line, " ", &rest);
    spec.values = next_number(&rest);
    spec.timeout = next_number(&rest);
    spec.timer_bits = (unsigned)next_number(&rest);
    spec.timeouts = next_timeouts(&rest, spec.values, timeouts);
    spec.geometry = rest;
    spec.capacity = spec.lifetime = 1; /* no promise: some are made to overflow */
    spec.overflow = 0.999;
    spec.seed = &seed;
    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK) give_up(problem.text);
    (void)puts("ok");
    return &states->set;
}

static const char *name_of(tamis_status status) {
    switch (status) {
    case TAMIS_OK: return "ok";
    case TAMIS_ERR_FULL: return "full";
    case TAMIS_ERR_ABSENT: return "absent";
    case TAMIS_ERR_UNKNOWN: return "unknown";
    case TAMIS_ERR_CONFLICT: return "conflict";
    case TAMIS_ERR_SATURATED: return "saturated";
    default: return "something else";
    }
}

static void print_status(tamis_status status) {
    (void)puts(name_of(status));
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
    uint8_t *const scratch = malloc((size_t)set->kind->calls.balance_bytes(&set->table, n));
    if (scratch == NULL) give_up("no memory");
    print_count(set->kind->calls.add_balanced(&set->table, hash, n, scratch));
    free(scratch);
}

static void get(const tamis_set *set, uint64_t hash) {
    uint32_t           value = 0;
    tamis_status const status = set->kind->states->get(&set->table, hash, &value);
    if (status == TAMIS_OK)
        (void)printf("ok %" PRIu32 "\n", value);
    else
        print_status(status);
}

/* Like tamis_states_tick(), but with a given amount of work, so that the sweep can be late in small
 * tables, too. */
static void tick(tamis_set *set, uint64_t ticks, uint64_t units) {
    tamis_table *const table = &set->table;
    uint64_t           aged[MAX_VALUES] = { 0 };
    sweep_advance(&table->sweep, ticks);
    for (; units != 0 && table->sweep.done != table->sweep.due; units--) {
        set->kind->states->sweep(table, table->sweep.done, aged);
        sweep_step(&table->sweep);
    }
    (void)printf("%" PRIu64, table->sweep.due - table->sweep.done);
    for (uint64_t i = 0; i < table->values; i++) (void)printf(" %" PRIu64, aged[i]);
    (void)putchar('\n');
}

static void print_body(const tamis_set *set) {
    const tamis_table *const table = &set->table;
    const char              *why = "";
    if (!set->kind->validate(table, &why)) give_up(why);
    (void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " ", table->keys, table->saturated,
                 table->moved);
    (void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " ", table->aged, table->sweep.done,
                 table->sweep.due);
    for (uint64_t i = 0; i < table->body_bytes; i++) (void)printf("%02x", table->body[i]);
    (void)putchar('\n');
}

static bool obey_as_set(tamis_set *set, const char *verb, uint64_t hash) {
    tamis_table *const table = &set->table;
    if (strcmp(verb, "add") == 0)
        print_status(set->kind->calls.add(table, hash));
    else if (strcmp(verb, "remove") == 0)
        print_status(set->kind->calls.remove(table, hash));
    else if (strcmp(verb, "has") == 0)
        (void)puts(set->kind->calls.has(table, hash) ? "yes" : "no");
    else if (strcmp(verb, "count") == 0)
        print_count(set->kind->calls.count(table, hash));
    else
        return false;
    return true;
}

static bool obey_as_states(tamis_set *set, const char *verb, uint64_t hash, char *rest) {
    tamis_table *const table = &set->table;
    if (strcmp(verb, "get") == 0) {
        get(set, hash);
    } else if (strcmp(verb, "put") == 0) {
        print_status(set->kind->states->put(table, hash, (uint32_t)next_number(&rest)));
    } else if (strcmp(verb, "move") == 0) {
        uint64_t const from = next_number(&rest);
        print_status(set->kind->states->move(table, hash, from, (uint32_t)next_number(&rest)));
    } else if (strcmp(verb, "touch") == 0) {
        print_status(set->kind->states->touch(table, hash));
    } else if (strcmp(verb, "drop") == 0) {
        print_status(set->kind->states->drop(table, hash, next_number(&rest)));
    } else {
        return false;
    }
    return true;
}

static void obey(tamis_set *set, char *line) {
    char             *rest = NULL;
    const char *const verb = strtok_r(line, " ", &rest);
    if (strcmp(verb, "body") == 0) {
        print_body(set);
    } else if (strcmp(verb, "balance") == 0) {
        balance(set, rest);
    } else if (strcmp(verb, "tick") == 0) {
        uint64_t const ticks = next_number(&rest);
        tick(set, ticks, next_number(&rest));
    } else {
        const char *const word = strtok_r(NULL, " ", &rest);
        uint64_t const    hash = word != NULL ? strtoull(word, NULL, 16) : 0;
        bool const        is_states = set->table.values != 0;
        if (!(is_states ? obey_as_states(set, verb, hash, rest) : obey_as_set(set, verb, hash)))
            give_up("a line that is not understood");
    }
}

int main(void) {
    static char line[LINE_BYTES];
    tamis_set  *set = NULL;
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        bool const is_set = strncmp(line, "set ", 4) == 0;
        if (is_set || strncmp(line, "states ", 7) == 0) {
            tamis_free(set);
            set = is_set ? make(line + 4) : make_states(line + 7);
        } else {
            if (set == NULL) give_up("no table yet");
            obey(set, line);
        }
    }
    tamis_free(set);
    return 0;
}
