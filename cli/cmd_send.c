/* cmd_send.c - tamis send and receive: sets as compact streams, without their empty places.
 *
 * A stream is checked as a whole before it becomes a set, so it is read into memory first; the file
 * is saved at the end. If something goes wrong, the file is unchanged.
 */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "numbers.h"
#include "output.h"
#include "progress.h"
#include "setfile.h"

/* ------------------------------------------------------------------ sending */

static bool send_bytes(void *context, const void *bytes, size_t n) {
    uint64_t *const sent = context;
    *sent += n;
    progress_bytes(*sent);
    output_bytes(bytes, n); /* a failure ends the program there */
    return true;
}

static bool pass_over(void *context, const void *bytes, size_t n) {
    (void)context;
    (void)bytes;
    (void)n;
    return true;
}

/* Can sets of this kind be sent? Found by trying. */
static bool is_sendable(const char *kind) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *set;
    spec.kind = kind;
    spec.capacity = 100;
    spec.fpr = 0.01;
    if (tamis_create(&spec, &set, NULL) != TAMIS_OK) return false;
    bool const is_sent = tamis_send(set, 0, pass_over, NULL) == TAMIS_OK;
    tamis_free(set);
    return is_sent;
}

/* "rank, dlcbf": the kinds that can be sent. */
static void list_sendable(char *ret_text, size_t n) {
    size_t at = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; tamis_kind_name(i) != NULL && at < n; i++) {
        if (!is_sendable(tamis_kind_name(i))) continue;
        at += (size_t)snprintf(ret_text + at, n - at, "%s%s", at ? ", " : "", tamis_kind_name(i));
    }
}

static _Noreturn void die_of_kind(const tamis_info *info, const char *path) {
    char kinds[200];
    list_sendable(kinds, sizeof kinds);
    die("%s is of kind %s, which cannot be sent; these kinds can: %s; build one of them, or copy "
        "the file itself",
        path, info->plan.kind, kinds);
}

/* "words.tamis: sent 1,000 keys in 1.41 KiB, 11.5 bits per key; the file is 6.1 KiB, 4.3 times as
 * large". */
static void tell_sent(const tamis_info *info, const char *path, uint64_t bytes, bool has_copies,
                      const options *asked) {
    contents_text contents;
    number_text   size, file;
    char          each[40] = "";
    if (is_given(asked, OPTION_BIT(QUIET))) return;
    setfile_name_contents(info, contents);
    number_size(bytes, size);
    number_size(info->plan.file_bytes, file);
    if (info->facts.keys != 0) {
        (void)snprintf(each, sizeof each, ", %.1f bits per key",
                       8 * (double)bytes / info->distinct);
    }
    bool const is_less = (info->plan.abilities & TAMIS_CAN_REMOVE) != 0 && !has_copies;
    warn("%s: sent %s in %s%s%s; the file is %s, %.1f times as large", path, contents, size, each,
         is_less ? ", without the data for removal" : "", file,
         (double)info->plan.file_bytes / (double)bytes);
}

static int send_run(const options *asked) {
    const char *const path = asked->operands[0];
    setfile           file;
    tamis_info        info;
    uint64_t          bytes = 0;
    if (isatty(STDOUT_FILENO)) {
        die("a stream is not text; write it to a pipe or a file: tamis send %s >stream", path);
    }
    setfile_open_set(path, asked, &file);
    setfile_inspect(file.set, &info);
    bool const can_count = (info.plan.abilities & TAMIS_CAN_COUNT) != 0;
    bool const has_copies = can_count && !is_given(asked, OPTION_BIT(NO_COPIES));
    progress_begin(0);
    tamis_status const status =
        tamis_send(file.set, has_copies ? TAMIS_SEND_COPIES : 0, send_bytes, &bytes);
    if (status == TAMIS_ERR_CANNOT) die_of_kind(&info, path);
    if (status != TAMIS_OK) die("%s: %s", path, tamis_status_text(status));
    setfile_close(&file);
    output_flush();
    tell_sent(&info, path, bytes, has_copies, asked);
    return EXIT_DONE;
}

const command command_send = {
    .name = "send",
    .operands = "FILE ",
    .summary = "Write a set as a small stream, for 'tamis receive' elsewhere",
    .text =
        "The stream goes to standard output. It leaves out the empty places of the set, so it\n"
        "is smaller than the file: about log2(1/rate) + 2 bits per key, and one more bit per\n"
        "key in a set that can remove. --no-copies saves that bit; the received set then has\n"
        "the same answers, but cannot remove. Only kinds that store fingerprints of one length\n"
        "can be sent: line, rank and dlcbf. The stream is checksummed. Sets with the same\n"
        "contents give the same stream.\n",
    .examples = "  tamis send seen.tamis | ssh host tamis receive seen.tamis\n"
                "  tamis send --no-copies seen.tamis >seen.stream\n",
    .options = OPTION_BIT(NO_COPIES) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = 1,
    .set_operands = 1,
    .run = send_run,
};

/* ------------------------------------------------------------------ the stream, read */

#define FIRST_BYTES ((size_t)1 << 18)
#define MAGIC_BYTES ((size_t)8) /* enough to tell a stream from anything else */

typedef struct incoming {
    const char *name; /* of the file, or NULL: standard input */
    int         descriptor;
    uint8_t    *bytes;
    size_t      n, room;
    uint64_t    memory; /* of the set, at most (--memory); 0: any */
} incoming;

static const char *name_to_say(const incoming *from) {
    return from->name != NULL ? from->name : "standard input";
}

static _Noreturn void die_of_reading(const incoming *from, int error) {
    const char *const advice = error == ENOENT   ? "; name an existing file"
                               : error == EISDIR ? "; name a file, not a folder"
                               : error == EACCES ? "; make it readable"
                                                 : "";
    die("cannot read the stream from %s: %s%s", name_to_say(from), strerror(error), advice);
}

static void incoming_open(incoming *ret_from, const char *name, uint64_t memory) {
    bool const is_stdin = name == NULL || strcmp(name, "-") == 0;
    *ret_from = (incoming){ .name = is_stdin ? NULL : name,
                            .descriptor = STDIN_FILENO,
                            .memory = memory };
    if (is_stdin && isatty(STDIN_FILENO)) {
        die("a stream comes from a pipe or a file, not from the keyboard: tamis receive FILE "
            "<stream");
    }
    if (!is_stdin) ret_from->descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (ret_from->descriptor < 0) die_of_reading(ret_from, errno);
    struct stat about;
    bool const  is_sized = fstat(ret_from->descriptor, &about) == 0 && S_ISREG(about.st_mode);
    progress_begin(is_sized ? (uint64_t)about.st_size : 0);
}

/* Room for at least `more` bytes, if doubling it once is enough for that. */
static void incoming_make_room(incoming *from, size_t more) {
    if (from->room - from->n >= more) return;
    size_t const   room = from->room == 0 ? FIRST_BYTES : 2 * from->room;
    uint8_t *const bytes = room > from->room ? realloc(from->bytes, room) : NULL;
    if (bytes == NULL) die("not enough memory for a stream of more than %zu bytes", from->n);
    from->bytes = bytes;
    from->room = room;
}

/* Something else than a stream need not be read to its end; it may have none. */
static bool is_no_stream(const incoming *from) {
    tamis_set *set;
    return from->n >= MAGIC_BYTES &&
           tamis_receive(from->bytes, MAGIC_BYTES, NULL, &set, NULL) == TAMIS_ERR_FOREIGN;
}

/* A sender may never stop. So before the buffer is doubled, the header is asked for the length: a
 * stream that is longer is refused when it is received, as it is. The limit lets no set be made
 * here. */
static bool is_too_long(const incoming *from) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *set;
    spec.max_bytes = 1;
    if (from->n == 0 || from->n < from->room) return false;
    tamis_status const status = tamis_receive(from->bytes, from->n, &spec, &set, NULL);
    return status != TAMIS_ERR_TRUNCATED && status != TAMIS_ERR_LIMIT;
}

/* A header can say any length. A stream is shorter than the body of its set, unless nearly all keys
 * have thousands of copies: their numbers can take four times as many bits there. */
static void check_memory(const incoming *from) {
    if (from->memory == 0 || from->n < FIRST_BYTES || from->n / 4 <= from->memory) return;
    die("the stream is longer than that of any set of --memory; if you trust its sender, give "
        "more");
}

static void incoming_read(incoming *from) {
    ssize_t got = 1;
    while (got != 0 && !is_too_long(from)) {
        check_memory(from);
        incoming_make_room(from, 1);
        got = read(from->descriptor, from->bytes + from->n, from->room - from->n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) die_of_reading(from, errno);
        bool const was_known = from->n >= MAGIC_BYTES;
        from->n += (size_t)got;
        progress_bytes(from->n);
        if (!was_known && is_no_stream(from)) break;
    }
    progress_hide();
    if (from->name != NULL) (void)close(from->descriptor);
}

/* ------------------------------------------------------------------ a set as another kind */

static bool keep_bytes(void *context, const void *bytes, size_t n) {
    incoming *const to = context;
    while (to->room - to->n < n) incoming_make_room(to, n);
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
    return true;
}

bool is_sent_as(const tamis_set *set, const char *kind) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *received = NULL;
    incoming   stream = { .descriptor = -1 };
    tamis_info info;
    spec.kind = kind;
    setfile_inspect(set, &info);
    unsigned const flags = (info.plan.abilities & TAMIS_CAN_COUNT) != 0 ? TAMIS_SEND_COPIES : 0;
    bool const     is_done = tamis_send(set, flags, keep_bytes, &stream) == TAMIS_OK &&
                         tamis_receive(stream.bytes, stream.n, &spec, &received, NULL) == TAMIS_OK;
    tamis_free(received);
    free(stream.bytes);
    return is_done;
}

/* ------------------------------------------------------------------ receiving */

#define OPTIONS_OF_RECEIVING                                                              \
    (OPTION_BIT(CAPACITY) | OPTION_BIT(FPR) | OPTIONS_OF_ABILITY | OPTION_BIT(FAST) |     \
     OPTION_BIT(SMALL) | OPTION_BIT(KIND) | OPTION_BIT(GEOMETRY) | OPTION_BIT(LIFETIME) | \
     OPTION_BIT(OVERFLOW))

/* Is it the file of a set, which can be used as it is? */
static bool is_saved_set(const incoming *from) {
    tamis_set *set = NULL;
    bool const is_file =
        tamis_read(from->bytes, from->n, NULL, &set, NULL) != TAMIS_ERR_FOREIGN && from->n != 0;
    tamis_free(set);
    return is_file;
}

static const char *advice_on(const tamis_problem *problem, const incoming *from) {
    switch ((int)problem->status) {
    case TAMIS_ERR_FOREIGN:
        return is_saved_set(from) ? "it is the file of a set, which can be used as it is"
                                  : "'tamis send' makes one";
    case TAMIS_ERR_TRUNCATED:
    case TAMIS_ERR_CHECKSUM:
    case TAMIS_ERR_CORRUPT: return "send it again";
    case TAMIS_ERR_VERSION:
    case TAMIS_ERR_KIND: return "use a newer tamis";
    case TAMIS_ERR_MISMATCH: return "--like takes a set with the same seed and fingerprints";
    case TAMIS_ERR_LIMIT:
    case TAMIS_ERR_MEMORY: return "use a machine with more memory";
    default: return NULL;
    }
}

/* The library's messages name functions and fields; users of the tool need the options. */
static _Noreturn void die_of_inability(const tamis_problem *problem, const options *asked) {
    if (strstr(problem->text, "no copies") != NULL) {
        die("the stream was sent without copies, so the received set cannot remove or count; send "
            "it without --no-copies, or leave out %s",
            asked->like != NULL ? "--like" : "--remove and --count");
    }
    if (asked->spec.kind != NULL && !is_sendable(asked->spec.kind)) {
        char kinds[200];
        list_sendable(kinds, sizeof kinds);
        die("a stream cannot become a %s; these kinds are possible: %s", asked->spec.kind, kinds);
    }
    if (strstr(problem->text, "would be a false positive") != NULL) {
        int const length = (int)strcspn(problem->text, ":");
        die("%.*s; give a smaller -n, or allow it with -e", length, problem->text);
    }
    if (strstr(problem->text, "counts to") != NULL) {
        int const length = (int)strcspn(problem->text, ":");
        die("%.*s; give a smaller --count-to, or another --kind", length, problem->text);
    }
    die("no set of that size and kind can hold the fingerprints of the stream; try another -n, or "
        "leave out the options to get the set as it was");
}

static _Noreturn void die_of_stream(const tamis_problem *problem, const incoming *from,
                                    const options *asked) {
    if (problem->status == TAMIS_ERR_CANNOT) die_of_inability(problem, asked);
    if (problem->status == TAMIS_ERR_FULL) {
        int const length = (int)strcspn(problem->text, ":"); /* without advice for programmers */
        die("%.*s; give a larger -n", length, problem->text);
    }
    if (problem->status == TAMIS_ERR_LIMIT && asked->spec.memory != 0)
        die("the set of this stream is larger than --memory; if you trust its sender, give more");
    const char *const advice = advice_on(problem, from);
    const char *const text = *problem->text ? problem->text : tamis_status_text(problem->status);
    die("%s%s%s", text, advice ? "; " : "", advice ? advice : "");
}

/* Make the set that the options ask for; without options, the set as it was. */
static tamis_set *receive_set(const incoming *from, const options *asked) {
    tamis_spec    spec = asked->spec;
    tamis_set    *set;
    tamis_problem problem = { .text = "" };
    bool const    is_new =
        is_given(asked, OPTIONS_OF_RECEIVING | OPTION_BIT(LIKE) | OPTION_BIT(MEMORY));
    setfile like = { .descriptor = -1 };
    if (asked->like != NULL) setfile_open_set(asked->like, asked, &like);
    spec.like = like.set;
    if (!is_given(asked, OPTION_BIT(FPR))) spec.fpr = 0; /* about what it was */
    /* A limit, and not the size to plan for: 200 bytes from a stranger can describe a set of any
     * size. */
    spec.max_bytes = asked->spec.memory;
    spec.memory = 0;
    problem.status = tamis_receive(from->bytes, from->n, is_new ? &spec : NULL, &set, &problem);
    setfile_close(&like);
    if (problem.status != TAMIS_OK) die_of_stream(&problem, from, asked);
    return set;
}

static int receive_run(const options *asked) {
    const char *const path = asked->operands[0];
    incoming          from;
    tamis_info        info;
    contents_text     contents;
    setfile_text      description;
    setfile_target    target;
    if (asked->is_counted) die("-n auto: the stream says how many keys it has; leave out -n");
    setfile_aim(path, asked, &target);
    incoming_open(&from, asked->n_operands > 1 ? asked->operands[1] : NULL, asked->spec.memory);
    incoming_read(&from);
    tamis_set *const set = receive_set(&from, asked);
    setfile_save(set, &target);
    setfile_inspect(set, &info);
    setfile_name_contents(&info, contents);
    setfile_describe(&info, description);
    if (!is_given(asked, OPTION_BIT(QUIET))) {
        warn("%s: received %s; %s", path, contents, description);
    }
    bool const is_overloaded = setfile_warn_of_overload(&info, path);
    tamis_free(set);
    free(from.bytes);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_receive = {
    .name = "receive",
    .operands = "FILE [STREAM] ",
    .summary = "Make a set from a stream of 'tamis send' and save it to FILE",
    .text =
        "The stream is the file STREAM, or standard input. Without options the set is the same\n"
        "as the sent one, with the same size and answers. With options it gets a new layout.\n"
        "Hash, seed and fingerprints stay the same, and so do the answers; but for more keys\n"
        "(-n) the false-positive rate is higher, and if it is more than 1.5 times the old rate,\n"
        "-e must allow it. A damaged stream is refused, and FILE does not change. If FILE is a\n"
        "set, it is replaced; another file is replaced only with --force. A small stream can\n"
        "describe a large empty set: if you do not trust the sender, limit it with --memory.\n",
    .examples = "  tamis send seen.tamis | ssh host tamis receive seen.tamis\n"
                "  tamis receive seen.tamis seen.stream\n"
                "  tamis receive larger.tamis -n 2M -e 1% <seen.stream\n",
    .options = OPTIONS_OF_RECEIVING | OPTION_BIT(MEMORY) | OPTION_BIT(LIKE) | OPTION_BIT(FORCE) |
               OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = 2,
    .set_operands = 1,
    .run = receive_run,
};
