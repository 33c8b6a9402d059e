/* fuzz_shards.c - the input is data that `tamis redis` gets from outside: replies, and journals.
 *
 * The first byte says which: the text in NAME:tamis that describes a set; a journal, with or
 * without a valid first line; or the replies of a server to a question about the slots of its
 * cluster. Any error would end the program with exit(): the linker option --wrap replaces it, so
 * that control returns here, and the files that the program had open are closed here. A connection
 * is a pair of sockets that already contains the replies.
 */
#include "fuzz.h"
#include "redis_journal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_BYTES 16384

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
FILE          *__real_fdopen(int descriptor, const char *mode);
FILE          *__wrap_fdopen(int descriptor, const char *mode);
int            __real_fclose(FILE *file);
int            __wrap_fclose(FILE *file);
redisContext  *__wrap_redisConnectWithTimeout(const char *host, int port, struct timeval limit);

static jmp_buf program_end;
static bool    is_running; /* otherwise the fuzzer itself calls exit() */

void __wrap_exit(int status) {
    if (!is_running) __real_exit(status);
    longjmp(program_end, status == 0 ? 100 : status);
}

/* ------------------------------------------------------------------ what is open */

#define MOST_DESCRIPTORS 64

static bool    was_open[MOST_DESCRIPTORS];
static FILE   *open_file; /* of the journal */
static cluster nodes;
static journal book;

FILE *__wrap_fdopen(int descriptor, const char *mode) {
    FILE *const file = __real_fdopen(descriptor, mode);
    if (is_running) open_file = file;
    return file;
}

int __wrap_fclose(FILE *file) {
    if (file == open_file) open_file = NULL;
    return __real_fclose(file);
}

static bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

static void note_open(void) {
    for (int i = 0; i < MOST_DESCRIPTORS; i++) was_open[i] = is_open(i);
    memset(&nodes, 0, sizeof nodes);
    memset(&book, 0, sizeof book);
    book.descriptor = -1;
}

static void close_all(void) {
    if (open_file != NULL) (void)fclose(open_file);
    journal_close(&book);
    cluster_close(&nodes);
    for (int i = 0; i < MOST_DESCRIPTORS; i++) {
        if (!was_open[i] && is_open(i)) (void)close(i);
    }
}

/* ------------------------------------------------------------------ a server that has spoken */

static const uint8_t *replies; /* NULL: they were sent */
static size_t         n_replies;

/* The first connection gets all replies; the others are refused. */
redisContext *__wrap_redisConnectWithTimeout(const char *host, int port, struct timeval limit) {
    int ends[2];
    (void)host, (void)port, (void)limit;
    if (replies == NULL) return redisConnectFd(-1);
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    must(write(ends[1], replies, n_replies) == (ssize_t)n_replies);
    must(shutdown(ends[1], SHUT_WR) == 0);
    replies = NULL;
    return redisConnectFd(ends[0]);
}

/* hiredis allocates a pointer for each element that a reply announces. The system gives no memory
 * for those that never come, but AddressSanitizer does, so such replies are left out. */
static bool announces_many(const uint8_t *bytes, size_t n) {
    size_t length = 0; /* of the type of a reply and the digits after it */
    for (size_t i = 0; i < n && length < 9; i++) {
        if (memchr("*%~>", bytes[i], 4) != NULL)
            length = 1;
        else if (length != 0)
            length = bytes[i] >= '0' && bytes[i] <= '9' ? length + 1 : 0;
    }
    return length == 9;
}

static void try_cluster(const uint8_t *bytes, size_t n) {
    if (announces_many(bytes, n)) return;
    replies = bytes;
    n_replies = n;
    cluster_open(&nodes, "localhost:7000");
    for (unsigned slot = 0; slot < CLUSTER_SLOTS; slot++)
        must(nodes.owner[slot] == NO_NODE ||
             (nodes.owner[slot] >= 0 && (unsigned)nodes.owner[slot] < nodes.n_nodes));
}

/* ------------------------------------------------------------------ texts */

/* A text that is accepted stays the same when it is written and read again. */
static void try_meta(const uint8_t *bytes, size_t n) {
    static char text[MAX_BYTES + 1], again[META_BYTES];
    set_meta    meta, twice;
    memcpy(text, bytes, n);
    text[n] = '\0';
    if (!meta_read(text, &meta)) return;
    must(meta.shards >= 1 && meta.shards <= MAX_SHARDS && strlen(meta.kind) < sizeof meta.kind);
    meta_write(&meta, again);
    must(meta_read(again, &twice) && meta_is_same(&meta, &twice));
}

static void try_journal(const uint8_t *bytes, size_t n, bool has_head) {
    static shards set = { .name = "n", .client = "0" };
    static char   load[] = "load", name[] = "n", *operands[] = { load, name };
    char          path[40], head[200];
    int const     file = memfd_create("journal", 0);
    options const asked = { .operands = operands, .n_operands = 2, .journal = path, .windows = 2 };
    must(file >= 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int const head_n = snprintf(
        head, sizeof head, "tamis journal 1 load n seed=%016x:%016x windows=2 client=0\n", 0, 0);
    if (has_head) must(write(file, head, (size_t)head_n) == head_n);
    must(write(file, bytes, n) == (ssize_t)n);
    journal_open(&book, &asked, &set);
    for (uint64_t i = 0; i < book.n_begun + 2; i++)
        must((journal_keys(&book, i) != 0) == (i < book.n_begun));
    must(book.n_done <= book.n_begun);
}

/* ------------------------------------------------------------------ one input */

static void try_input(const uint8_t *bytes, size_t n) {
    if (bytes[0] % 4 == 0) try_meta(bytes + 1, n - 1);
    if (bytes[0] % 4 == 1) try_journal(bytes + 1, n - 1, true);
    if (bytes[0] % 4 == 2) try_journal(bytes + 1, n - 1, false);
    if (bytes[0] % 4 == 3) try_cluster(bytes + 1, n - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 1 || n > MAX_BYTES) return 0;
    note_open();
    if (setjmp(program_end) == 0) {
        is_running = true;
        try_input(bytes, n);
    }
    is_running = false;
    close_all();
    return 0;
}
