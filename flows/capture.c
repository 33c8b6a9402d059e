/* capture.c - see capture.h. */
#include "capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classic.h"
#include "pcapng.h"

/* Live. Headers are all that we want; link headers, tags, IPv6 extensions and TCP fit easily. */
#define LIVE_SNAPSHOT 512
#define LIVE_WAIT_MS 200
#define LIVE_BUFFER_BYTES (16 << 20)

typedef enum capture_format { FORMAT_CLASSIC, FORMAT_NG, FORMAT_OF_LIBPCAP } capture_format;

/* In our own formats, a filter is compiled for each link type that comes. */
typedef struct capture_filter {
    int                link_type;
    struct bpf_program program;
} capture_filter;

#define MAX_FILTERS 8

struct capture {
    source         from;
    bool           is_live;
    capture_format format;
    classic        classic;
    pcapng         ng;
    pcap_t        *pcap; /* of libpcap, where it reads */
    const char    *expression;
    capture_filter filters[MAX_FILTERS];
    size_t         n_filters;
    capture_text   problem;
};

static volatile sig_atomic_t is_stopped;

void capture_stop(void) {
    is_stopped = 1;
}

const char *capture_problem(const capture *from) {
    return from->problem;
}

uint64_t capture_total_bytes(const capture *from) {
    return from->from.total_bytes;
}

uint64_t capture_read_bytes(const capture *from) {
    return from->from.read_bytes - source_has(&from->from);
}

uint64_t capture_dropped(const capture *from) {
    struct pcap_stat counts;
    if (!from->is_live || pcap_stats(from->pcap, &counts) != 0) return 0;
    return (uint64_t)counts.ps_drop + counts.ps_ifdrop;
}

void capture_close(capture *from) {
    if (from == NULL) return;
    for (size_t i = 0; i < from->n_filters; i++) pcap_freecode(&from->filters[i].program);
    if (from->pcap != NULL) pcap_close(from->pcap);
    pcapng_end(&from->ng);
    source_close(&from->from);
    free(from);
}

/* ------------------------------------------------------------------ opening */

/* Where libpcap has another number for a link type in a file. */
static int dlt_of(int link_type) {
    switch (link_type) {
    case 100: return DLT_ATM_RFC1483;
    case 101: return DLT_RAW;
    case 102: return DLT_SLIP_BSDOS;
    case 103: return DLT_PPP_BSDOS;
    case 106: return DLT_ATM_CLIP;
    default: return link_type;
    }
}

/* NULL: it is no filter for this link type; reterr_text says why. */
static const capture_filter *add_filter(capture *to, pcap_t *pcap, int link_type,
                                        capture_text reterr_text) {
    capture_filter *const filter = &to->filters[to->n_filters];
    if (to->n_filters == MAX_FILTERS) {
        (void)snprintf(reterr_text, sizeof(capture_text), "too many link types to filter");
        return NULL;
    }
    if (pcap_compile(pcap, &filter->program, to->expression, 1, PCAP_NETMASK_UNKNOWN) != 0) {
        (void)snprintf(reterr_text, sizeof(capture_text), "the filter '%.100s': %.150s",
                       to->expression, pcap_geterr(pcap));
        return NULL;
    }
    filter->link_type = link_type;
    to->n_filters++;
    return filter;
}

static const capture_filter *filter_for(capture *to, int link_type, capture_text reterr_text) {
    for (size_t i = 0; i < to->n_filters; i++) {
        if (to->filters[i].link_type == link_type) return &to->filters[i];
    }
    pcap_t *const pcap = pcap_open_dead(dlt_of(link_type), CLASSIC_MAX_CAPTURED);
    if (pcap == NULL) {
        (void)snprintf(reterr_text, sizeof(capture_text), "out of memory");
        return NULL;
    }
    const capture_filter *const filter = add_filter(to, pcap, link_type, reterr_text);
    pcap_close(pcap);
    return filter;
}

/* Of pcapng the link types are not known yet. */
static bool set_filter(capture *to, const char *expression, capture_text reterr_text) {
    to->expression = expression;
    if (expression == NULL || to->format == FORMAT_NG) return true;
    if (to->format == FORMAT_CLASSIC) {
        return filter_for(to, to->classic.link_type, reterr_text) != NULL;
    }
    if (add_filter(to, to->pcap, pcap_datalink(to->pcap), reterr_text) == NULL) return false;
    if (pcap_setfilter(to->pcap, &to->filters[0].program) == 0) return true;
    (void)snprintf(reterr_text, sizeof(capture_text), "the filter: %.200s", pcap_geterr(to->pcap));
    return false;
}

/* "gzip" and the like, by the first bytes; NULL: not compressed, as far as we know. */
static const char *compressor_of(const source *from) {
    static const struct {
        const char *name, *magic;
    } known[] = { { "zcat", "\x1f\x8b" },
                  { "xzcat", "\xfd"
                             "7zXZ" },
                  { "bzcat", "BZh" },
                  { "zstdcat", "\x28\xb5\x2f\xfd" } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t const n = strlen(known[i].magic);
        if (source_has(from) >= n && memcmp(source_at(from), known[i].magic, n) == 0)
            return known[i].name;
    }
    return NULL;
}

static bool open_with_libpcap(capture *to, const char *name, capture_text reterr_text) {
    char              text[PCAP_ERRBUF_SIZE] = "";
    const char *const compressor = compressor_of(&to->from);
    if (compressor != NULL) {
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "%s: it is compressed; write %s %s | tamis-flows ... -", name, compressor,
                       name);
        return false;
    }
    FILE *const file = source_stdio(&to->from);
    if (file != NULL)
        to->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, text);
    if (to->pcap != NULL) return true;
    if (file != NULL) (void)fclose(file);
    (void)snprintf(reterr_text, sizeof(capture_text), "%s: not a capture that can be read: %s",
                   name, file != NULL ? text : "out of memory");
    return false;
}

static bool open_file(capture *to, const char *name, capture_text reterr_text) {
    if (strcmp(name, "-") == 0 && isatty(STDIN_FILENO)) {
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "standard input is a terminal; write tcpdump -w - | tamis-flows ... -");
        return false;
    }
    if (!source_open(&to->from, name)) {
        (void)snprintf(reterr_text, sizeof(capture_text), "%s: %s", name, strerror(errno));
        return false;
    }
    to->format = classic_begin(&to->classic, &to->from) ? FORMAT_CLASSIC
                 : pcapng_begin(&to->ng, &to->from)     ? FORMAT_NG
                                                        : FORMAT_OF_LIBPCAP;
    if (to->from.error != 0) {
        (void)snprintf(reterr_text, sizeof(capture_text), "%s: %s", name, strerror(to->from.error));
        return false;
    }
    return to->format != FORMAT_OF_LIBPCAP || open_with_libpcap(to, name, reterr_text);
}

/* A capture with nothing in it yet, or NULL. */
static capture *new_capture(capture_text reterr_text) {
    capture *const made = calloc(1, sizeof *made);
    if (made == NULL) (void)snprintf(reterr_text, sizeof(capture_text), "out of memory");
    if (made != NULL) made->from.descriptor = -1;
    return made;
}

capture *capture_open_file(const char *name, const char *filter, capture_text reterr_text) {
    capture *const made = new_capture(reterr_text);
    if (made == NULL) return NULL;
    if (open_file(made, name, reterr_text) && set_filter(made, filter, reterr_text)) return made;
    capture_close(made);
    return NULL;
}

/* libpcap's own words on top of the status, where it has some. */
static void tell_activation(const char *name, pcap_t *pcap, int status, capture_text reterr_text) {
    const char *const words =
        *pcap_geterr(pcap) != '\0' ? pcap_geterr(pcap) : pcap_statustostr(status);
    bool const is_forbidden =
        status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED;
    (void)snprintf(reterr_text, sizeof(capture_text), "%s: %.200s%s", name, words,
                   is_forbidden ? "; capturing needs root" : "");
}

static bool open_interface(capture *to, const char *name, capture_text reterr_text) {
    char text[PCAP_ERRBUF_SIZE] = "";
    to->is_live = true;
    to->pcap = pcap_create(name, text);
    if (to->pcap == NULL) {
        (void)snprintf(reterr_text, sizeof(capture_text), "%s: %.200s", name, text);
        return false;
    }
    (void)pcap_set_snaplen(to->pcap, LIVE_SNAPSHOT);
    (void)pcap_set_promisc(to->pcap, 1);
    (void)pcap_set_timeout(to->pcap, LIVE_WAIT_MS);
    (void)pcap_set_buffer_size(to->pcap, LIVE_BUFFER_BYTES);
    (void)pcap_set_tstamp_precision(to->pcap, PCAP_TSTAMP_PRECISION_NANO);
    int const status = pcap_activate(to->pcap);
    if (status < 0) {
        tell_activation(name, to->pcap, status, reterr_text);
        return false;
    }
    (void)pcap_setnonblock(to->pcap, 1, text); /* poll() waits, and tells when nothing comes */
    return true;
}

capture *capture_open_interface(const char *name, const char *filter, capture_text reterr_text) {
    capture *const made = new_capture(reterr_text);
    if (made == NULL) return NULL;
    made->format = FORMAT_OF_LIBPCAP;
    if (open_interface(made, name, reterr_text) && set_filter(made, filter, reterr_text)) {
        return made;
    }
    capture_close(made);
    return NULL;
}

/* ------------------------------------------------------------------ reading */

static bool passes(const capture_filter *filter, const capture_packet *p) {
    struct pcap_pkthdr const header = { .caplen = (bpf_u_int32)p->captured,
                                        .len = (bpf_u_int32)p->on_wire };
    return pcap_offline_filter(&filter->program, &header, p->bytes) != 0;
}

static bool next_own(capture *from, capture_packet *ret_packet) {
    return from->format == FORMAT_CLASSIC ? classic_next(&from->classic, ret_packet)
                                          : pcapng_next(&from->ng, ret_packet);
}

static capture_status more_own(capture *from) {
    return from->format == FORMAT_CLASSIC ? classic_more(&from->classic, from->problem)
                                          : pcapng_more(&from->ng, from->problem);
}

static capture_status read_own(capture *from, size_t max, capture_sink *sink, void *context) {
    capture_packet p;
    size_t         n = 0;
    while (n < max && next_own(from, &p)) {
        if (from->expression != NULL) {
            const capture_filter *const filter = filter_for(from, p.link_type, from->problem);
            if (filter == NULL) return CAPTURE_BROKEN;
            if (!passes(filter, &p)) continue;
        }
        sink(context, &p);
        n++;
    }
    return n > 0 ? CAPTURE_MORE : more_own(from);
}

typedef struct forward {
    capture_sink *sink;
    void         *context;
    int           link_type;
    uint64_t      fraction_ns;
} forward;

static void on_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes) {
    const forward *const to = (const void *)user;
    /* libpcap was asked for nanoseconds, and calls them microseconds */
    capture_packet const p = { .bytes = bytes,
                               .captured = header->caplen,
                               .on_wire = header->len,
                               .time_ns = (uint64_t)header->ts.tv_sec * 1000000000 +
                                          (uint64_t)header->ts.tv_usec * to->fraction_ns,
                               .link_type = to->link_type };
    to->sink(to->context, &p);
}

/* False: none came for a while, or a signal did. */
static bool wait_for_packets(const capture *from) {
    struct pollfd wanted = { .fd = pcap_get_selectable_fd(from->pcap), .events = POLLIN };
    return poll(&wanted, 1, LIVE_WAIT_MS) > 0;
}

static capture_status read_with_libpcap(capture *from, size_t max, capture_sink *sink,
                                        void *context) {
    bool const is_nano = pcap_get_tstamp_precision(from->pcap) == PCAP_TSTAMP_PRECISION_NANO;
    if (from->is_live && !wait_for_packets(from)) return CAPTURE_IDLE;
    forward   to = { sink, context, pcap_datalink(from->pcap), is_nano ? 1 : 1000 };
    int const n = pcap_dispatch(from->pcap, (int)max, on_packet, (u_char *)&to);
    if (n > 0) return CAPTURE_MORE;
    if (n == 0) return from->is_live ? CAPTURE_IDLE : CAPTURE_END;
    (void)snprintf(from->problem, sizeof from->problem, "%.200s; all before it was read",
                   pcap_geterr(from->pcap));
    return CAPTURE_BROKEN;
}

capture_status capture_read(capture *from, size_t max, capture_sink *sink, void *context) {
    if (is_stopped) return CAPTURE_STOPPED;
    capture_status const status = from->format != FORMAT_OF_LIBPCAP
                                      ? read_own(from, max, sink, context)
                                      : read_with_libpcap(from, max, sink, context);
    return is_stopped ? CAPTURE_STOPPED : status; /* a read that was interrupted is no damage */
}
