/* test_capture.c - capture files: compared with libpcap, cut at every byte, and damaged. */
#include "temporary.h"

#include <fcntl.h>
#include <pcap/pcap.h>

#include "capture.h"
#include "frames.h"
#include "live.h"

#define BEGIN_NS UINT64_C(1700000000123456789)
#define N_PACKETS 40

static char folder[32];

static const char *make_path(const char *name) {
    static char path[sizeof folder + 40];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ------------------------------------------------------------------ files */

/* Packet i of every file. */
static void make_packet(unsigned i, frame *ret_frame) {
    frame_style const style = { .version = i % 3 == 0 ? 6 : 4,
                                .n_tags = i % 2,
                                .has_timestamps = i % 5 != 0 };
    frame_end const   a = { { 10, 0, 0, (uint8_t)i }, (uint16_t)(1000 + i) },
                    b = { { 192, 168, 0, 1 }, 80 };
    frame_tcp(ret_frame, &style, &a, &b, SYN, i * 7 % 90);
}

static const char *make_file(const char *name, frame_format format, size_t snapshot) {
    const char *const path = make_path(name);
    (void)unlink(path); /* some file systems wait for the disk when a file is overwritten */
    frame_writer *const writer = writer_open(path, format, snapshot, 1);
    assert_non_null(writer);
    for (unsigned i = 0; i < N_PACKETS; i++) {
        frame made;
        make_packet(i, &made);
        writer_put(writer, &made, BEGIN_NS + i * UINT64_C(1000001001));
    }
    assert_true(writer_close(writer));
    return path;
}

static size_t load_file(const char *path, uint8_t *ret_bytes, size_t max) {
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    size_t const n = fread(ret_bytes, 1, max, file);
    assert_true(n < max);
    assert_int_equal(fclose(file), 0);
    return n;
}

static const char *store_file(const char *name, const uint8_t *bytes, size_t n) {
    const char *const path = make_path(name);
    (void)unlink(path);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* ------------------------------------------------------------------ reading */

/* What was read of each packet. */
typedef struct seen {
    unsigned n;
    uint64_t times[N_PACKETS];
    uint64_t sums[N_PACKETS]; /* a checksum of lengths and bytes */
    int      link_types[N_PACKETS];
} seen;

static void note_packet(void *context, const capture_packet *p) {
    seen *const packets = context;
    uint64_t    sum = p->on_wire * 1000003 + p->captured;
    assert_true(packets->n < N_PACKETS);
    for (size_t i = 0; i < p->captured; i++) sum = sum * 31 + p->bytes[i];
    packets->times[packets->n] = p->time_ns;
    packets->link_types[packets->n] = p->link_type;
    packets->sums[packets->n++] = sum;
}

static capture_status read_to_end(capture *input, seen *ret_seen) {
    capture_status status = CAPTURE_MORE;
    *ret_seen = (seen){ 0 };
    while (status == CAPTURE_MORE) status = capture_read(input, 7, note_packet, ret_seen);
    return status;
}

static capture_status read_file(const char *path, const char *filter, seen *ret_seen) {
    capture_text   problem;
    capture *const input = capture_open_file(path, filter, problem);
    if (input == NULL) print_error("%s\n", problem);
    assert_non_null(input);
    capture_status const status = read_to_end(input, ret_seen);
    if (status == CAPTURE_BROKEN) assert_true(strlen(capture_problem(input)) > 10);
    capture_close(input);
    return status;
}

/* Read the same file with libpcap. */
static void read_by_libpcap(const char *path, seen *ret_seen) {
    char          text[PCAP_ERRBUF_SIZE];
    pcap_t *const pcap =
        pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
    struct pcap_pkthdr *header;
    const u_char       *bytes;
    assert_non_null(pcap);
    *ret_seen = (seen){ 0 };
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        capture_packet const p = { bytes, header->caplen, header->len,
                                   (uint64_t)header->ts.tv_sec * 1000000000 +
                                       (uint64_t)header->ts.tv_usec,
                                   pcap_datalink(pcap) };
        note_packet(ret_seen, &p);
    }
    pcap_close(pcap);
}

static const struct {
    const char  *name;
    frame_format format;
} formats[] = { { "micro", FORMAT_MICRO },
                { "nano", FORMAT_NANO },
                { "swapped", FORMAT_SWAPPED },
                { "ng", FORMAT_NG } };

static void files_are_read_as_libpcap_reads_them(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        seen              ours, theirs;
        const char *const path =
            make_file(formats[i].name, formats[i].format, i % 2 == 0 ? 262144 : 60);
        assert_int_equal(read_file(path, NULL, &ours), CAPTURE_END);
        read_by_libpcap(path, &theirs);
        assert_int_equal(ours.n, N_PACKETS);
        assert_memory_equal(&ours, &theirs, sizeof ours);
    }
}

static void filters_select_packets(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        seen              found;
        const char *const path = make_file("filtered", formats[i].format, 262144);
        assert_int_equal(read_file(path, "ip and src port 1004", &found), CAPTURE_END);
        assert_int_equal(found.n, 1);
        assert_int_equal(read_file(path, "vlan", &found), CAPTURE_END);
        assert_int_equal(found.n, N_PACKETS / 2);
    }
}

static void bad_filters_are_reported(void **state) {
    (void)state;
    capture_text problem = "";
    assert_null(
        capture_open_file(make_file("filtered", FORMAT_MICRO, 262144), "host and", problem));
    assert_non_null(strstr(problem, "filter 'host and'"));
    seen found;
    assert_int_equal(read_file(make_file("filtered", FORMAT_NG, 262144), "host and", &found),
                     CAPTURE_BROKEN);
}

/* ------------------------------------------------------------------ cut and damaged */

/* A capture cut at every byte: complete packets are read, and the cut is reported unless it is
 * between two packets. */
static void captures_cut_at_every_byte_are_read_up_to_the_cut(void **state) {
    (void)state;
    static uint8_t bytes[65536];
    for (size_t i = 0; i < COUNT(formats); i++) {
        size_t const n = load_file(make_file("whole", formats[i].format, 96), bytes, sizeof bytes);
        seen         whole, part;
        assert_int_equal(read_file(make_path("whole"), NULL, &whole), CAPTURE_END);
        unsigned ends = 0;
        for (size_t length = 0; length < n; length += 1 + length / 700) {
            capture_text      problem = "";
            const char *const path = store_file("cut", bytes, length);
            capture *const    input = capture_open_file(path, NULL, problem);
            if (input == NULL) {
                assert_true(length < 24 && strlen(problem) > 10);
                continue;
            }
            capture_status const status = read_to_end(input, &part);
            capture_close(input);
            assert_true(status == CAPTURE_BROKEN || status == CAPTURE_END);
            assert_true(part.n < N_PACKETS);
            assert_memory_equal(part.sums, whole.sums, part.n * sizeof part.sums[0]);
            ends += status == CAPTURE_END;
        }
        assert_true(ends <= N_PACKETS + 2);
    }
}

static void damaged_captures_do_no_harm(void **state) {
    (void)state;
    static uint8_t bytes[65536];
    dice           random = dice_start();
    for (unsigned i = 0; i < 2000; i++) {
        size_t const n =
            load_file(make_file("whole", formats[i % 4].format, 96), bytes, sizeof bytes);
        for (unsigned j = 0; j < 1 + dice_below(&random, 3); j++)
            bytes[dice_below(&random, n)] = (uint8_t)dice_edge(&random);
        capture_text   problem = "";
        capture *const input = capture_open_file(store_file("damaged", bytes, n), NULL, problem);
        if (input == NULL) {
            assert_true(strlen(problem) > 10);
            continue;
        }
        seen                 found;
        capture_status const status = read_to_end(input, &found);
        assert_true(status == CAPTURE_END ||
                    (status == CAPTURE_BROKEN && strlen(capture_problem(input)) > 10));
        capture_close(input);
    }
}

static void impossible_lengths_are_reported_as_damage(void **state) {
    (void)state;
    static uint8_t bytes[65536];
    capture_text   problem;
    seen           found;
    size_t const   n = load_file(make_file("whole", FORMAT_MICRO, 96), bytes, sizeof bytes);
    memset(bytes + 24 + 8, 0x7f, 4); /* of the first record */
    capture *const input = capture_open_file(store_file("damaged", bytes, n), NULL, problem);
    assert_non_null(input);
    assert_int_equal(read_to_end(input, &found), CAPTURE_BROKEN);
    assert_non_null(strstr(capture_problem(input), "packet 1 claims to have 2139062143 bytes"));
    capture_close(input);
}

static void other_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *words;
    } cases[] = { { "", "not a capture file" },
                  { "hello, world, this is a text", "not a capture file" },
                  { "\x1f\x8b\x08 compressed", "damaged" },
                  { "BZh91AY", "bzip2 -dc" } };
    capture_text problem;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const path =
            store_file("text", (const uint8_t *)cases[i].bytes, strlen(cases[i].bytes));
        assert_null(capture_open_file(path, NULL, problem));
        assert_non_null(strstr(problem, cases[i].words));
    }
    assert_null(capture_open_file(make_path("nowhere"), NULL, problem));
    assert_non_null(strstr(problem, "No such file"));
    assert_null(capture_open_file(folder, NULL, problem));
    assert_non_null(strstr(problem, "Is a directory"));
    const char *const interface = "no-such-interface";
    live             *lane;
    live_spec         spec = { .names = &interface, .n_names = 1, .buffer = 1 << 20, .n_lanes = 1 };
    assert_false(live_open(&spec, &lane, problem));
    assert_non_null(strstr(problem, interface));
}

/* ------------------------------------------------------------------ unusual files */

/* An old format of Linux, with two more fields per packet. */
static void unusual_formats_are_read_by_libpcap(void **state) {
    (void)state;
    static uint8_t bytes[200];
    uint32_t const header[6] = { 0xa1b2cd34, 4 << 16 | 2, 0, 0, 96, 1 };
    uint32_t const record[6] = { 1700000000, 5, 60, 60, 0, 0 }; /* the last two words are extra */
    memcpy(bytes, header, 24);
    memcpy(bytes + 24, record, 24);
    seen ours, theirs;
    assert_int_equal(read_file(store_file("odd", bytes, 24 + 24 + 60), NULL, &ours), CAPTURE_END);
    read_by_libpcap(make_path("odd"), &theirs);
    assert_int_equal(ours.n, 1);
    assert_memory_equal(&ours, &theirs, sizeof ours);
    assert_int_equal(read_file(store_file("odd", bytes, 24 + 24 + 50), NULL, &ours),
                     CAPTURE_BROKEN);
}

/* Two interfaces with different link types and time units, and a block of an unknown type. */
static void interfaces_of_pcapng_keep_their_link_types(void **state) {
    (void)state;
    /* clang-format off */
    uint32_t const words[] = {
        0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28, /* a section */
        1, 32, 1, 0, 1 << 16 | 9, 9, 0, 32,                        /* Ethernet, nanoseconds */
        1, 32, 101, 65535, 1 << 16 | 9, 0x80 | 10, 0, 32,          /* raw IP, in 1/1024 s */
        0x0bad, 20, 1, 2, 20,                                      /* unknown */
        6, 36, 1, 0, 1024 * 5 + 512, 4, 9, 0x45454545, 36,         /* a packet of the second */
        6, 36, 0, 0, 77, 4, 4, 0x45454545, 36,                     /* of the first */
        3, 20, 9, 0x45454545, 20,                                  /* the simple form */
        2, 36, 1, 1, 1024, 4, 9, 0x45454545, 36,                   /* the old form, after 2^32 */
        0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28, /* another section */
        6, 36, 0, 0, 77, 4, 4, 0x45454545, 36,                     /* its interface is missing */
    };
    /* clang-format on */
    seen found;
    assert_int_equal(
        read_file(store_file("two", (const uint8_t *)words, sizeof words), NULL, &found),
        CAPTURE_BROKEN);
    assert_int_equal(found.n, 4);
    assert_int_equal(found.link_types[0], 101);
    assert_int_equal(found.link_types[1], 1);
    assert_int_equal(found.link_types[2], 1);
    assert_int_equal(found.times[0], UINT64_C(5500000000));
    assert_int_equal(found.times[1], 77);
    assert_int_equal(found.times[2], 77);
    assert_int_equal(found.times[3], UINT64_C(4194305000000000));
}

/* A section, n interfaces, and a packet of the last one. Returns its length. */
static size_t pcapng_with_interfaces(uint32_t n, uint32_t *ret_words) {
    uint32_t const section[] = { 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28 };
    uint32_t const interface[] = { 1, 20, 101, 65535, 20 };
    uint32_t const packet[] = { 6, 36, n - 1, 0, 77, 4, 4, 0x45454545, 36 };
    uint32_t      *to = ret_words;
    memcpy(to, section, sizeof section);
    to += COUNT(section);
    for (uint32_t i = 0; i < n; i++, to += COUNT(interface))
        memcpy(to, interface, sizeof interface);
    memcpy(to, packet, sizeof packet);
    return sizeof section + n * sizeof interface + sizeof packet;
}

/* Each takes memory, until the capture ends. */
static void interfaces_without_end_are_refused(void **state) {
    (void)state;
    static uint32_t words[400000];
    capture_text    problem;
    seen            found = { 0 };
    capture_status  status;
    size_t          n = pcapng_with_interfaces(65536, words);
    const char     *path = store_file("many", (const uint8_t *)words, n);
    assert_int_equal(read_file(path, NULL, &found), CAPTURE_END);
    assert_int_equal(found.n, 1);
    n = pcapng_with_interfaces(65537, words);
    capture *const input =
        capture_open_file(store_file("many", (const uint8_t *)words, n), NULL, problem);
    assert_non_null(input);
    do status = capture_read(input, 100, note_packet, &found);
    while (status == CAPTURE_MORE);
    assert_int_equal(status, CAPTURE_BROKEN);
    assert_non_null(strstr(capture_problem(input), "more than 65536 interfaces"));
    capture_close(input);
}

static void pipes_are_read_as_bytes_arrive(void **state) {
    (void)state;
    static uint8_t bytes[65536];
    size_t const   n = load_file(make_file("whole", FORMAT_MICRO, 96), bytes, sizeof bytes);
    int            ends[2];
    capture_text   problem;
    seen           found = { 0 };
    assert_int_equal(pipe(ends), 0);
    int const kept = dup(STDIN_FILENO);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(write(ends[1], bytes, 300), 300);
    capture *const input = capture_open_file("-", NULL, problem);
    assert_non_null(input);
    assert_int_equal(capture_total_bytes(input), 0);
    assert_int_equal(capture_read(input, 100, note_packet, &found),
                     CAPTURE_MORE); /* does not wait */
    assert_true(found.n >= 2);
    assert_int_equal(write(ends[1], bytes + 300, n - 300), n - 300);
    assert_int_equal(close(ends[1]), 0);
    while (capture_read(input, 100, note_packet, &found) == CAPTURE_MORE) {
    }
    assert_int_equal(found.n, N_PACKETS);
    capture_close(input);
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    (void)close(kept);
    (void)close(ends[0]);
}

static int make_folder(void **state) {
    (void)state;
    temporary_folder_make(folder, sizeof folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    temporary_folder_remove(folder);
    return 0;
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_libpcap_reads_them),
        cmocka_unit_test(filters_select_packets),
        cmocka_unit_test(bad_filters_are_reported),
        cmocka_unit_test(captures_cut_at_every_byte_are_read_up_to_the_cut),
        cmocka_unit_test(damaged_captures_do_no_harm),
        cmocka_unit_test(impossible_lengths_are_reported_as_damage),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(unusual_formats_are_read_by_libpcap),
        cmocka_unit_test(interfaces_of_pcapng_keep_their_link_types),
        cmocka_unit_test(interfaces_without_end_are_refused),
        cmocka_unit_test(pipes_are_read_as_bytes_arrive),
    };
    print_message("# seed %llu\n", (unsigned long long)dice_seed());
    return _cmocka_run_group_tests("capture", tests, COUNT(tests), make_folder, remove_folder);
}
