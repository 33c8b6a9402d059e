/* test_state.c - files of --state: what was saved comes back, and what somebody crafted is refused.
 *
 * All crafted files have correct checksums, which anybody can compute.
 */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "machines.h"
#include "state.h"
#include "temporary.h"
#include "tracker.h"

#define N_FLOWS 300
#define SAVED_NS UINT64_C(1700000000000000000)

/* Fields of the header (state.h). */
enum { AT_TIME = 24, AT_N_ORDER = 32, AT_TABLE_BYTES = 48, AT_CHECKSUM = 56, HEADER_BYTES = 64 };

/* The table of a run, and a file that it has saved. */
typedef struct rig {
    machine    m;
    table_spec spec;
    table     *flows;
    table_info made;
    room       r;
    char       folder[32];
    char       name[64];
} rig;

static table *new_table(const table_spec *spec) {
    tamis_problem problem = { .status = TAMIS_OK };
    table *const  made = table_states_new(spec, &problem);
    if (made == NULL) print_error("%s\n", problem.text);
    assert_non_null(made);
    return made;
}

static tamis_step put_first_value(void *context, size_t i, tamis_status status, uint32_t value,
                                  uint32_t *ret_to) {
    (void)context, (void)i, (void)status, (void)value;
    *ret_to = 0;
    return TAMIS_STEP_SET;
}

/* So many flows in the first state, all of which may go. */
static void put_flows(rig *r) {
    for (uint64_t id = 1; id <= N_FLOWS; id++) {
        tamis_status after;
        table_step(r->flows, &id, 1, put_first_value, NULL, &after);
        assert_int_equal(after, TAMIS_OK);
        room_note(&r->r, id, 1000);
    }
}

static void rig_init(rig *r) {
    *r = (rig){ .m = read_shipped("tcp") };
    r->spec = (table_spec){ .capacity = 1000, .fpr = 0.01, .seed = { 1, 2 } };
    tracker_timeouts(&r->m, &r->spec);
    r->flows = new_table(&r->spec);
    table_inspect(r->flows, &r->made);
    room_init(&r->r, &r->m, r->flows);
    put_flows(r);
    temporary_folder_make(r->folder, sizeof r->folder);
    (void)snprintf(r->name, sizeof r->name, "%s/flows.state", r->folder);
    assert_true(state_save(r->name, &r->m, &r->spec, &r->r, SAVED_NS));
}

static void rig_free(rig *r) {
    temporary_folder_remove(r->folder);
    room_fini(&r->r);
    table_free(r->flows);
    machine_free(&r->m);
}

static bool load(const rig *r, state_file *ret_file) {
    return state_load(r->name, &r->m, &r->spec, &r->made, ret_file);
}

/* ------------------------------------------------------------------ what was saved */

static void what_was_saved_comes_back(void **state) {
    (void)state;
    rig r;
    rig_init(&r);
    state_file    file;
    uint64_t      counts[TABLE_VALUES];
    tamis_seed    seed;
    tamis_problem problem;
    table_spec    other = r.spec;
    other.seed = (tamis_seed){ 3, 4 };
    table *const again = new_table(&other);
    assert_true(load(&r, &file));
    assert_int_equal(file.time_ns, SAVED_NS);
    assert_int_equal(file.n_order, N_FLOWS);
    assert_true(file.order[0] == 1 && file.order[N_FLOWS - 1] == N_FLOWS);
    assert_true(table_states_restore(again, file.table, file.n, &seed, &problem));
    assert_true(seed.low == 1 && seed.high == 2);
    assert_true(table_tally(again, counts) && counts[0] == N_FLOWS);
    state_free(&file);
    table_free(again);
    rig_free(&r);
}

/* The same machine and options, but this library would make a table of another size. */
static void a_table_of_another_size_is_kept(void **state) {
    (void)state;
    rig        r;
    state_file file;
    char       kept[sizeof r.name + 8];
    rig_init(&r);
    r.made.file_bytes += 64;
    assert_false(load(&r, &file));
    (void)snprintf(kept, sizeof kept, "%s.old", r.name);
    assert_int_equal(access(kept, R_OK), 0);
    rig_free(&r);
}

/* ------------------------------------------------------------------ crafted tables */

#define TABLE_ROOM (1 << 20)

typedef struct buffer {
    uint8_t bytes[TABLE_ROOM];
    size_t  n;
} buffer;

static bool append(void *context, const void *bytes, size_t n) {
    buffer *const to = context;
    if (n > sizeof to->bytes - to->n) return false;
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
    return true;
}

static void assert_table_refused(rig *r, const buffer *crafted) {
    tamis_problem problem = { .status = TAMIS_OK };
    tamis_seed    seed = { 5, 6 };
    uint64_t      counts[TABLE_VALUES];
    assert_false(table_states_restore(r->flows, crafted->bytes, crafted->n, &seed, &problem));
    assert_int_equal(problem.status, TAMIS_ERR_MISMATCH);
    assert_true(seed.low == 5 && seed.high == 6);
    assert_true(table_tally(r->flows, counts) && counts[0] == N_FLOWS);
}

/* More values than the machine has would be counted beyond the end of arrays. */
static void tables_with_other_values_are_refused(void **state) {
    static const uint64_t values[] = { 2, 33, 63, 64, 65, 256, 65536 };
    static buffer         crafted;
    (void)state;
    rig r;
    rig_init(&r);
    for (unsigned i = 0; i < COUNT(values); i++) {
        tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
        tamis_states     *made;
        spec.capacity = r.spec.capacity;
        spec.values = values[i];
        spec.fpr = r.spec.fpr;
        spec.timeout = 600;
        assert_int_equal(tamis_states_create(&spec, &made, NULL), TAMIS_OK);
        for (uint64_t id = 0; id < 500; id++)
            assert_int_equal(tamis_states_set_id(made, id, (uint32_t)(values[i] - 1)), TAMIS_OK);
        crafted.n = 0;
        assert_int_equal(tamis_states_write(made, append, &crafted), TAMIS_OK);
        tamis_states_free(made);
        assert_table_refused(&r, &crafted);
    }
    rig_free(&r);
}

/* Tables of tamis-flows itself, each of which differs in one thing. */
static void tables_that_differ_in_one_thing_are_refused(void **state) {
    static buffer crafted;
    (void)state;
    rig r;
    rig_init(&r);
    for (unsigned i = 0; i < 5; i++) {
        table_spec spec = r.spec;
        if (i == 0) spec.n_values++;
        if (i == 1) spec.capacity++;
        if (i == 2) spec.kind = strcmp(r.made.kind, "rank") == 0 ? "line" : "rank";
        if (i == 3) spec.timeouts[0] *= 2;
        for (unsigned k = 0; i == 4 && k < spec.n_values; k++) spec.timeouts[k] *= 2;
        spec.timeouts[spec.n_values - 1] = spec.timeouts[spec.n_values - 1 - (i == 0)];
        table *const made = new_table(&spec);
        crafted.n = 0;
        assert_true(table_save(made, append, &crafted));
        table_free(made);
        assert_table_refused(&r, &crafted);
    }
    rig_free(&r);
}

/* ------------------------------------------------------------------ crafted headers */

static void put_number(uint8_t *at, uint64_t number) {
    for (unsigned i = 0; i < 8; i++) at[i] = (uint8_t)(number >> 8 * i);
}

/* Change a field, correct the checksum, and give the file another length. */
static void craft(const rig *r, size_t field, uint64_t number, off_t length) {
    uint8_t   header[HEADER_BYTES];
    int const file = open(r->name, O_RDWR);
    assert_true(file >= 0 && pread(file, header, sizeof header, 0) == HEADER_BYTES);
    put_number(header + field, number);
    put_number(header + AT_CHECKSUM, XXH3_64bits(header, AT_CHECKSUM));
    assert_true(pwrite(file, header, sizeof header, 0) == HEADER_BYTES);
    assert_true(ftruncate(file, length) == 0 && close(file) == 0);
}

/* They would be read to the end, and ask for as much memory. */
static void files_with_other_lengths_are_refused(void **state) {
    static const uint64_t numbers[] = {
        0, 1, 1 << 16, UINT64_C(1) << 36, UINT64_C(1) << 61, UINT64_MAX / 8, UINT64_MAX
    };
    (void)state;
    rig r;
    for (unsigned i = 0; i < 2 * COUNT(numbers); i++) {
        state_file     file;
        size_t const   field = i % 2 == 0 ? AT_N_ORDER : AT_TABLE_BYTES;
        uint64_t const number = numbers[i / 2], unit = i % 2 == 0 ? 8 : 1;
        rig_init(&r);
        uint64_t const rest = i % 2 == 0 ? r.made.file_bytes : N_FLOWS * 8;
        bool const     is_possible = number <= UINT64_C(1) << 36;
        craft(&r, field, number, is_possible ? (off_t)(HEADER_BYTES + rest + unit * number) : 4096);
        assert_false(load(&r, &file));
        rig_free(&r);
    }
}

/* The time is believed: it decides only how many of the flows have timed out. */
static void any_time_is_accepted(void **state) {
    static const uint64_t times[] = { 0, 1, SAVED_NS - 1, UINT64_MAX };
    (void)state;
    rig r;
    rig_init(&r);
    for (unsigned i = 0; i < COUNT(times); i++) {
        state_file file;
        craft(&r, AT_TIME, times[i], (off_t)(HEADER_BYTES + 8 * N_FLOWS + r.made.file_bytes));
        assert_true(load(&r, &file));
        assert_int_equal(file.time_ns, times[i]);
        state_free(&file);
    }
    rig_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_saved_comes_back),
        cmocka_unit_test(a_table_of_another_size_is_kept),
        cmocka_unit_test(tables_with_other_values_are_refused),
        cmocka_unit_test(tables_that_differ_in_one_thing_are_refused),
        cmocka_unit_test(files_with_other_lengths_are_refused),
        cmocka_unit_test(any_time_is_accepted),
    };
    return unit_run("state", tests, COUNT(tests));
}
