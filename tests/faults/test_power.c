/* test_power.c - the power fails at any moment of a save: the old file or the new one is there.
 *
 * usage: test_power [TEARS]      so many ways to tear what was not synced, for each moment
 *
 * The linker puts the __wrap_ functions below in front of the library's calls (--wrap). They log
 * what a save asks of the disk: writes, syncs of the file, names, syncs of the folder. Then a model
 * of a disk is cut off after each entry of the log. What was synced is there. What was not synced
 * may be there in part: names in the order in which they were given, up to any of them; a file with
 * any length, and each of its sectors of 512 bytes as it was written, as zeros, or as garbage. In
 * each such state the file must have the bytes of the old file or those of the new one; after the
 * save has returned, those of the new one.
 *
 * The model itself is tested, too: without the sync of the file, and without the new name, it must
 * find states in which both are lost.
 */
#include "sample.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512

/* ------------------------------------------------------------------ the log */

enum act { WRITE, SYNC_FILE, NAME, REPLACE, SYNC_FOLDER };

/* NAME gives the new file a temporary name, REPLACE renames it to the final name. */
typedef struct entry {
    enum act act;
    size_t   bytes; /* of a write */
} entry;

static struct {
    entry    entries[2000];
    size_t   n;
    bool     is_on;
    bool     has_no_nameless; /* a file system without O_TMPFILE */
    size_t   largest_write;   /* longer ones are cut short, so that there are more moments */
    unsigned failures;        /* of calls that the model does not know */
} record;

static void note(enum act act, size_t bytes) {
    if (!record.is_on) return;
    assert_true(record.n < COUNT(record.entries));
    record.entries[record.n++] = (entry){ act, bytes };
}

static bool is_folder(int file) {
    struct stat about;
    return fstat(file, &about) == 0 && S_ISDIR(about.st_mode);
}

#define WRAP(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

WRAP(int, openat64, (int folder, const char *path, int flags, mode_t mode)) {
    if (record.is_on && record.has_no_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int const file = __real_openat64(folder, path, flags, mode);
    if (file >= 0 && (flags & O_CREAT) != 0) note(NAME, 0);
    return file;
}

WRAP(ssize_t, write, (int file, const void *bytes, size_t n)) {
    size_t const  most = record.is_on ? record.largest_write : n;
    ssize_t const put = __real_write(file, bytes, n < most ? n : most);
    if (put > 0) note(WRITE, (size_t)put);
    return put;
}

WRAP(int, fsync, (int file)) {
    int const result = __real_fsync(file);
    if (result == 0) note(is_folder(file) ? SYNC_FOLDER : SYNC_FILE, 0);
    return result;
}

WRAP(int, linkat, (int from, const char *old, int to, const char *new, int flags)) {
    int const result = __real_linkat(from, old, to, new, flags);
    if (result == 0) note(NAME, 0);
    return result;
}

WRAP(int, renameat, (int from, const char *old, int to, const char *new)) {
    int const result = __real_renameat(from, old, to, new);
    if (result == 0) note(REPLACE, 0);
    return result;
}

/* ------------------------------------------------------------------ the disk */

/* What is on the disk when the power fails after the first `moment` entries. */
typedef struct disk {
    size_t   synced, written;     /* bytes of the new file */
    unsigned names_synced, names; /* entries NAME and REPLACE */
    unsigned replaced_by;         /* the entry that gives it the final name; 0: none yet */
} disk;

/* Which syncs are ignored, to see whether the model notices. */
typedef struct sabotage {
    bool without_file_sync, without_replace;
} sabotage;

static disk disk_at(size_t moment, sabotage ignored) {
    disk d = { 0 };
    for (size_t i = 0; i < moment; i++) {
        const entry *const e = &record.entries[i];
        if (e->act == WRITE) d.written += e->bytes;
        if (e->act == SYNC_FILE && !ignored.without_file_sync) d.synced = d.written;
        if (e->act == NAME || e->act == REPLACE) d.names++;
        if (e->act == REPLACE) d.replaced_by = d.names;
        if (e->act == SYNC_FOLDER) d.names_synced = d.names;
    }
    if (ignored.without_replace) d.replaced_by = 1; /* written in place */
    return d;
}

/* The new file as it is on the disk, if the part that was not synced is damaged. */
static size_t tear(const disk *d, const buffer *new, dice *chance, uint8_t *ret_bytes) {
    size_t const loose = d->written - d->synced;
    size_t const kept = d->synced + (size_t)dice_below(chance, loose + 1);
    size_t const n = dice_below(chance, 3) == 0 ? d->written : kept; /* often the whole length */
    memcpy(ret_bytes, new->bytes, n);
    for (size_t at = d->synced; at < n; at += SECTOR - at % SECTOR) {
        size_t const   end = at + SECTOR - at % SECTOR, bytes = (end < n ? end : n) - at;
        uint64_t const face = dice_below(chance, 4);
        if (face == 0) memset(ret_bytes + at, 0, bytes);
        if (face == 1) dice_fill(chance, ret_bytes + at, bytes);
    }
    return n;
}

static bool is_same(const buffer *file, const uint8_t *bytes, size_t n) {
    return file->n == n && memcmp(file->bytes, bytes, n) == 0;
}

/* ------------------------------------------------------------------ every state */

typedef struct outcome {
    uint64_t states, old, new, lost;
} outcome;

/* One state: this many names are on the disk, and what was not synced is damaged. */
static void try_state(const disk *d, unsigned names, const buffer *old, const buffer *new,
                      dice *chance, uint8_t *scratch, outcome *sum) {
    sum->states++;
    if (d->replaced_by == 0 || names < d->replaced_by) {
        sum->old++; /* nothing has touched it */
        return;
    }
    size_t const n = tear(d, new, chance, scratch);
    if (is_same(new, scratch, n))
        sum->new ++;
    else if (is_same(old, scratch, n))
        sum->old++;
    else
        sum->lost++;
}

static outcome try_all(const buffer *old, const buffer *new, unsigned tears, sabotage ignored) {
    outcome        sum = { 0 };
    dice           chance = dice_start();
    uint8_t *const scratch = malloc(new->n);
    assert_non_null(scratch);
    for (size_t moment = 0; moment <= record.n; moment++) {
        disk const     d = disk_at(moment, ignored);
        unsigned const first = ignored.without_replace ? 1 : d.names_synced;
        for (unsigned names = first; names <= d.names + (ignored.without_replace != 0); names++) {
            for (unsigned i = 0; i < tears; i++)
                try_state(&d, names, old, new, &chance, scratch, &sum);
        }
    }
    free(scratch);
    return sum;
}

/* ------------------------------------------------------------------ a save */

static unsigned tears = 20;
static char     folder[64], path[200];
static outcome  total;

/* Replace the old file by that of a set, and log it. Returns the bytes of both. */
static void save_recorded(const char *kind, buffer *ret_old, buffer *ret_new) {
    tamis_set *const old = sample_set(kind, 16384, 100, 1), *const new =
                                                                sample_set(kind, 16384, 200, 2);
    assert_int_equal(tamis_save(old, path, NULL), TAMIS_OK);
    *ret_old = sample_of(old);
    *ret_new = sample_of(new);
    record.n = 0;
    record.is_on = true;
    assert_int_equal(tamis_save(new, path, NULL), TAMIS_OK);
    record.is_on = false;
    tamis_free(old);
    tamis_free(new);
}

static void power_may_fail_at_any_moment(void **state) {
    buffer old, new;
    for (unsigned way = 0; way < 4; way++) {
        record.has_no_nameless = way % 2 != 0;
        record.largest_write = way < 2 ? SIZE_MAX : 777;
        save_recorded(*state, &old, &new);
        outcome const sum = try_all(&old, &new, tears, (sabotage){ false, false });
        if (sum.lost != 0) fail_msg("%llu states without a file", (unsigned long long)sum.lost);
        assert_true(sum.old != 0 && sum.new != 0);
        total.states += sum.states;
        /* the save has returned: it must be the new file, in every state of the disk */
        disk const end = disk_at(record.n, (sabotage){ false, false });
        assert_true(end.synced == end.written && end.written == new.n);
        assert_true(end.replaced_by != 0 && end.names_synced >= end.replaced_by);
        uint64_t const keys = sample_keys_at(path);
        assert_true(keys > 150);
        free(old.bytes);
        free(new.bytes);
    }
}

/* A checker that never fires proves nothing. */
static void the_model_notices_a_missing_sync(void **state) {
    (void)state;
    buffer old, new;
    record.has_no_nameless = false;
    record.largest_write = 777;
    save_recorded("bloom", &old, &new);
    outcome const unsynced = try_all(&old, &new, tears, (sabotage){ .without_file_sync = true });
    assert_true(unsynced.lost > 0);
    outcome const in_place = try_all(&old, &new, tears, (sabotage){ .without_replace = true });
    assert_true(in_place.lost > 0);
    free(old.bytes);
    free(new.bytes);
}

static void states_were_tried(void **state) {
    (void)state;
    print_message("# %llu states of the disk\n", (unsigned long long)total.states);
    assert_true(total.states >= 5000);
}

int main(int argc, char **argv) {
    if (argc > 1) tears = (unsigned)strtoul(argv[1], NULL, 10);
    temporary_folder_make(folder, sizeof folder);
    (void)snprintf(path, sizeof path, "%s/power.tamis", folder);
    static const struct CMUnitTest of_a_kind[] = { cmocka_unit_test(power_may_fail_at_any_moment) };
    size_t                         n;
    struct CMUnitTest             *tests = sample_tests(of_a_kind, 1, &n);
    tests = realloc(tests, (n + 2) * sizeof *tests);
    assert_non_null(tests);
    tests[n] = (struct CMUnitTest)cmocka_unit_test(the_model_notices_a_missing_sync);
    tests[n + 1] = (struct CMUnitTest)cmocka_unit_test(states_were_tried);
    int const failed = _cmocka_run_group_tests("power", tests, n + 2, NULL, NULL);
    free(tests);
    temporary_folder_remove(folder);
    return failed;
}
