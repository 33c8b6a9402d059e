/* fuzz_capture.c - the input is a capture file: it is refused, or its packets are within the
 * file. */
#include "capture.h"
#include "fuzz.h"
#include "packet.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void on_packet(void *context, const capture_packet *p) {
    const size_t *const n = context;
    packet              parsed;
    must(p->captured <= *n || p->captured <= 262144); /* it may be compressed */
    (void)packet_parse(p->bytes, p->captured, p->on_wire, p->link_type, &parsed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    char           name[40];
    capture_text   problem = "";
    capture_status status = CAPTURE_MORE;
    int const      file = memfd_create("capture", 0);
    must(file >= 0 && write(file, bytes, n) == (ssize_t)n);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    capture *const from = capture_open_file(name, n % 2 == 0 ? NULL : "tcp or vlan", problem);
    must(from != NULL || problem[0] != '\0');
    while (from != NULL && status == CAPTURE_MORE) status = capture_read(from, 16, on_packet, &n);
    if (status == CAPTURE_BROKEN) must(capture_problem(from)[0] != '\0');
    capture_close(from);
    (void)close(file);
    return 0;
}
