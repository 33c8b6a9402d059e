/* fuzz_state.c - the input is a file of tamis-flows --state: it is refused, or a run goes on with
 * its flows.
 *
 * The first byte says what to do with the rest: use it as the file behind a valid name, or change
 * some bytes of a valid file, with four bytes of input for each change: the position, which half of
 * the file, and what to flip. Then all checksums are corrected, unless the choice says otherwise.
 * The second byte is the time between the two runs.
 */
#include "fuzz.h"
#include "seal.h"
#include "state.h"
#include "tracker.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLOWS 200
#define ROOM (1 << 17)
#define NAME_BYTES 12  /* state.h, as all below */
#define START_BYTES 16 /* name and version */
#define AT_TABLE_BYTES 48
#define HEADER_BYTES 64
#define AT_N_ORDER 32
#define AT_ORDER_SUM 40
#define AT_SUM 56
#define SECOND UINT64_C(1000000000)

/* One run, which is continued again and again. The plan of its table is made once: that takes long.
 */
static struct {
    machine    m;
    table_spec spec;
    table     *flows;
    table_info made;
    uint8_t    good[ROOM];
    size_t     n_good;
} run;

/* ------------------------------------------------------------------ a valid file */

static void send(tracker *t, uint32_t flow, uint8_t flags, uint64_t now_ns) {
    packet *const p = tracker_room(t, now_ns);
    *p = (packet){ .flow = { .protocol = PROTOCOL_TCP, .version = 4 }, .flags = flags };
    memcpy(p->flow.address[0], &flow, sizeof flow);
    tracker_add(t, now_ns, now_ns, 60);
}

static void finish(tracker *t, uint64_t now_ns) {
    tracker_advance(t, now_ns);
    while (table_is_behind(t->flows)) tracker_advance(t, now_ns);
}

static void make_good(const char *folder) {
    static tracker t;
    char           name[64];
    (void)snprintf(name, sizeof name, "%s/state", folder);
    tracker_init(&t, &run.m, run.flows, run.spec.seed.low);
    for (uint32_t i = 0; i < FLOWS - 20; i++) send(&t, i, i % 4 == 0 ? TCP_ACK : TCP_SYN, SECOND);
    finish(&t, SECOND);
    must(state_save(name, &run.m, &run.spec, &t.room, SECOND));
    FILE *const file = fopen(name, "rb");
    must(file != NULL);
    run.n_good = fread(run.good, 1, ROOM, file);
    must(fclose(file) == 0 && unlink(name) == 0 && run.n_good < ROOM);
    must(le64_load(run.good + AT_N_ORDER) != 0);
    tracker_fini(&t);
}

static void begin(void) {
    machine_problem problem;
    tamis_problem   why;
    char            folder[] = "/tmp/tamis-fuzz-XXXXXX";
    size_t          i = 0;
    if (run.n_good != 0) return;
    while (strcmp(machine_shipped_at(i)->name, "tcp") != 0) i++;
    must(machine_read(machine_shipped_at(i)->text, machine_shipped_at(i)->n, &run.m, &problem));
    run.spec = (table_spec){ .capacity = FLOWS, .fpr = 0.01, .seed = { 1, 2 } };
    tracker_timeouts(&run.m, &run.spec);
    run.flows = table_states_new(&run.spec, &why);
    must(run.flows != NULL && mkdtemp(folder) != NULL);
    table_inspect(run.flows, &run.made);
    make_good(folder);
    must(rmdir(folder) == 0);
}

/* ------------------------------------------------------------------ crafted files */

static void seal(uint8_t *file, size_t n) {
    if (n < HEADER_BYTES) return;
    uint64_t const n_order = le64_load(file + AT_N_ORDER), rest = n - HEADER_BYTES;
    size_t const   order = n_order <= rest / 8 ? (size_t)n_order * 8 : 0;
    seal_file(file + HEADER_BYTES + order, (size_t)rest - order);
    le64_store(file + AT_ORDER_SUM, XXH3_64bits(file + HEADER_BYTES, order));
    le64_store(file + AT_SUM, XXH3_64bits(file, AT_SUM));
}

/* Name, version and the size of the table stay. A file with another name ends the program; one of
 * another version, or with a table of another size, gets a second name, which a descriptor cannot
 * have. */
static size_t make_file(const uint8_t *bytes, size_t n, uint8_t *ret_file) {
    bool const is_raw = bytes[0] % 8 == 0;
    size_t     length = run.n_good;
    memcpy(ret_file, run.good, run.n_good);
    if (is_raw) {
        length = NAME_BYTES + n - 2;
        memcpy(ret_file + NAME_BYTES, bytes + 2, n - 2);
    }
    for (size_t i = 2; i + 3 < n && !is_raw; i += 4)
        ret_file[(le16_load(bytes + i) | (size_t)(bytes[i + 2] & 1) << 16) % length] ^=
            bytes[i + 3];
    memcpy(ret_file, run.good, START_BYTES);
    if (length < START_BYTES) length = START_BYTES;
    if (length >= AT_TABLE_BYTES + 8)
        memcpy(ret_file + AT_TABLE_BYTES, run.good + AT_TABLE_BYTES, 8);
    if (bytes[0] / 8 % 8 != 7) seal(ret_file, length);
    return length;
}

static bool load(const uint8_t *bytes, size_t n, state_file *ret_file) {
    char      name[40];
    int const file = memfd_create("state", 0);
    must(file >= 0 && write(file, bytes, n) == (ssize_t)n);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    bool const is_loaded = state_load(name, &run.m, &run.spec, &run.made, ret_file);
    (void)close(file);
    return is_loaded;
}

/* ------------------------------------------------------------------ a run with its flows */

/* The table must agree with the counters, whatever came from the file. */
static void check_counts(const tracker *t) {
    uint64_t counts[TABLE_VALUES], now[MACHINE_STATES] = { 0 }, sum = 0;
    must(table_tally(t->flows, counts));
    for (unsigned value = 0; value < machine_values(&run.m); value++) {
        now[machine_state_of(&run.m, value)] += counts[value];
        sum += counts[value];
    }
    must(t->counts.n_now == sum);
    for (unsigned i = 0; i < run.m.n_states; i++) must(t->counts.now[i] == now[i]);
}

/* Flows of the first run, and so many new ones that there must be room for them. */
static void go_on(const state_file *file, uint64_t silent_ns, uint64_t seed) {
    static tracker t;
    tracker_init(&t, &run.m, run.flows, seed);
    room_restore(&t.room, file->order, file->n_order);
    tracker_count_loaded(&t);
    tracker_resume(&t, silent_ns);
    check_counts(&t);
    for (uint32_t i = 0; i < 2 * FLOWS; i++)
        send(&t, i, i % 3 == 0 ? TCP_ACK : TCP_SYN, i * SECOND / 4);
    finish(&t, FLOWS * SECOND);
    check_counts(&t);
    tracker_fini(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static uint8_t file[ROOM];
    tamis_problem  problem;
    tamis_seed     seed;
    state_file     loaded;
    begin();
    if (n < 2 || n > ROOM / 2) return 0;
    if (!load(file, make_file(bytes, n, file), &loaded)) return 0;
    if (table_states_restore(run.flows, loaded.table, loaded.n, &seed, &problem))
        go_on(&loaded, bytes[1] * SECOND * 10, seed.low);
    state_free(&loaded);
    return 0;
}
