/* capture.c - see capture.h. */
#include "capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classic.h"
#include "pcapng.h"

typedef enum capture_format { FORMAT_CLASSIC, FORMAT_NG, FORMAT_LIBPCAP } capture_format;

/* For the formats read here, a filter is compiled for each link type when it first occurs. */
typedef struct capture_filter {
    int                link_type;
    struct bpf_program program;
} capture_filter;

#define MAX_FILTERS 8

struct capture {
    source         bytes;
    capture_format format;
    classic        classic;
    pcapng         ng;
    pcap_t        *pcap; /* NULL unless libpcap reads */
    const char    *expression;
    capture_filter filters[MAX_FILTERS];
    size_t         n_filters;
    capture_text   problem;
};

/* Set by a signal handler, and read by the threads of several cores. An atomic that needs no lock
 * is right for both. */
static atomic_bool is_stopped;

void capture_stop(void) {
    atomic_store(&is_stopped, true);
}

bool capture_is_stopped(void) {
    return atomic_load(&is_stopped);
}

const char *capture_problem(const capture *input) {
    return input->problem;
}

uint64_t capture_total_bytes(const capture *input) {
    return input->bytes.total_bytes;
}

uint64_t capture_read_bytes(const capture *input) {
    return source_used_bytes(&input->bytes);
}

void capture_close(capture *input) {
    if (input == NULL) return;
    for (size_t i = 0; i < input->n_filters; i++) pcap_freecode(&input->filters[i].program);
    if (input->pcap != NULL) pcap_close(input->pcap);
    pcapng_end(&input->ng);
    source_close(&input->bytes);
    free(input);
}

/* ------------------------------------------------------------------ opening */

/* The number of libpcap (DLT_) for a link type in a file (LINKTYPE_). Most are the same. */
static int linktype_to_dlt(int link_type) {
    switch (link_type) {
    case 100: return DLT_ATM_RFC1483;
    case 101: return DLT_RAW;
    case 102: return DLT_SLIP_BSDOS;
    case 103: return DLT_PPP_BSDOS;
    case 106: return DLT_ATM_CLIP;
    default: return link_type;
    }
}

/* NULL: the expression is not valid for this link type; reterr_text says why. */
static const capture_filter *add_filter(capture *input, pcap_t *pcap, int link_type,
                                        capture_text reterr_text) {
    capture_filter *const filter = &input->filters[input->n_filters];
    if (input->n_filters == MAX_FILTERS) {
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "more than %d link types in a filtered capture", MAX_FILTERS);
        return NULL;
    }
    if (pcap_compile(pcap, &filter->program, input->expression, 1, PCAP_NETMASK_UNKNOWN) != 0) {
        (void)snprintf(reterr_text, sizeof(capture_text), "filter '%.100s': %.150s",
                       input->expression, pcap_geterr(pcap));
        return NULL;
    }
    filter->link_type = link_type;
    input->n_filters++;
    return filter;
}

static const capture_filter *filter_for(capture *input, int link_type, capture_text reterr_text) {
    for (size_t i = 0; i < input->n_filters; i++) {
        if (input->filters[i].link_type == link_type) return &input->filters[i];
    }
    pcap_t *const pcap = pcap_open_dead(linktype_to_dlt(link_type), CLASSIC_MAX_CAPTURED);
    if (pcap == NULL) {
        (void)snprintf(reterr_text, sizeof(capture_text), "out of memory");
        return NULL;
    }
    const capture_filter *const filter = add_filter(input, pcap, link_type, reterr_text);
    pcap_close(pcap);
    return filter;
}

/* The link types of a pcapng file are not known yet: its filters are compiled later. */
static bool set_filter(capture *input, const char *expression, capture_text reterr_text) {
    input->expression = expression;
    if (expression == NULL || input->format == FORMAT_NG) return true;
    if (input->format == FORMAT_CLASSIC) {
        return filter_for(input, input->classic.link_type, reterr_text) != NULL;
    }
    if (add_filter(input, input->pcap, pcap_datalink(input->pcap), reterr_text) == NULL)
        return false;
    if (pcap_setfilter(input->pcap, &input->filters[0].program) == 0) return true;
    (void)snprintf(reterr_text, sizeof(capture_text), "filter: %.200s", pcap_geterr(input->pcap));
    return false;
}

static bool open_with_libpcap(capture *input, const char *name, capture_text reterr_text) {
    char        text[PCAP_ERRBUF_SIZE] = "";
    FILE *const file = source_stdio(&input->bytes);
    if (file != NULL)
        input->pcap =
            pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, text);
    if (input->pcap != NULL) return true;
    if (file != NULL) (void)fclose(file);
    (void)snprintf(reterr_text, sizeof(capture_text), "%s: not a capture file: %s", name,
                   file != NULL ? text : "out of memory");
    return false;
}

static bool open_file(capture *input, const char *name, capture_text reterr_text) {
    if (strcmp(name, "-") == 0 && isatty(STDIN_FILENO)) {
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "standard input is a terminal; write tcpdump -w - | tamis-flows ... -");
        return false;
    }
    if (!source_open(&input->bytes, name)) {
        (void)snprintf(reterr_text, sizeof(capture_text), "%s: %s", name, strerror(errno));
        return false;
    }
    const char *format, *why;
    if (!source_unpack(&input->bytes, &format, &why)) {
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "%s: compressed by %s: %s; write %s -dc %s | tamis-flows ... -", name,
                       format, why, format, name);
        return false;
    }
    input->format = classic_begin(&input->classic, &input->bytes) ? FORMAT_CLASSIC
                    : pcapng_begin(&input->ng, &input->bytes)     ? FORMAT_NG
                                                                  : FORMAT_LIBPCAP;
    if (input->bytes.error != 0) {
        (void)snprintf(reterr_text, sizeof(capture_text), "%s: %s", name,
                       source_error_text(&input->bytes));
        return false;
    }
    return input->format != FORMAT_LIBPCAP || open_with_libpcap(input, name, reterr_text);
}

/* A capture that is not open yet, or NULL. */
static capture *capture_new(capture_text reterr_text) {
    capture *const made = calloc(1, sizeof *made);
    if (made == NULL) (void)snprintf(reterr_text, sizeof(capture_text), "out of memory");
    if (made != NULL) made->bytes.descriptor = -1;
    return made;
}

capture *capture_open_file(const char *name, const char *filter, capture_text reterr_text) {
    capture *const made = capture_new(reterr_text);
    if (made == NULL) return NULL;
    if (open_file(made, name, reterr_text) && set_filter(made, filter, reterr_text)) return made;
    capture_close(made);
    return NULL;
}

/* ------------------------------------------------------------------ reading */

static bool filter_matches(const capture_filter *filter, const capture_packet *p) {
    struct pcap_pkthdr const header = { .caplen = (bpf_u_int32)p->captured,
                                        .len = (bpf_u_int32)p->on_wire };
    return pcap_offline_filter(&filter->program, &header, p->bytes) != 0;
}

static capture_status read_directly(capture *input, size_t max, capture_sink *sink, void *context) {
    bool const     is_classic = input->format == FORMAT_CLASSIC;
    capture_packet p;
    size_t         n = 0;
    while (n < max &&
           (is_classic ? classic_next(&input->classic, &p) : pcapng_next(&input->ng, &p))) {
        if (input->expression != NULL) {
            const capture_filter *const filter = filter_for(input, p.link_type, input->problem);
            if (filter == NULL) return CAPTURE_BROKEN;
            if (!filter_matches(filter, &p)) continue;
        }
        sink(context, &p);
        n++;
    }
    if (n > 0) return CAPTURE_MORE;
    return is_classic ? classic_more(&input->classic, input->problem)
                      : pcapng_more(&input->ng, input->problem);
}

/* What libpcap's callback needs to pass a packet on. */
typedef struct forward {
    capture_sink *sink;
    void         *context;
    int           link_type;
    uint64_t      fraction_ns; /* the unit of tv_usec */
} forward;

static void on_libpcap_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes) {
    const forward *const next = (const void *)user;
    /* tv_usec holds nanoseconds when libpcap was asked for them */
    capture_packet const p = { .bytes = bytes,
                               .captured = header->caplen,
                               .on_wire = header->len,
                               .time_ns = (uint64_t)header->ts.tv_sec * 1000000000 +
                                          (uint64_t)header->ts.tv_usec * next->fraction_ns,
                               .link_type = next->link_type };
    next->sink(next->context, &p);
}

static capture_status read_with_libpcap(capture *input, size_t max, capture_sink *sink,
                                        void *context) {
    bool const is_nano = pcap_get_tstamp_precision(input->pcap) == PCAP_TSTAMP_PRECISION_NANO;
    forward    next = { sink, context, pcap_datalink(input->pcap), is_nano ? 1 : 1000 };
    int const  n = pcap_dispatch(input->pcap, (int)max, on_libpcap_packet, (u_char *)&next);
    if (n > 0) return CAPTURE_MORE;
    if (n == 0) return CAPTURE_END;
    (void)snprintf(input->problem, sizeof input->problem, "%.200s; everything before was read",
                   pcap_geterr(input->pcap));
    return CAPTURE_BROKEN;
}

capture_status capture_read(capture *input, size_t max, capture_sink *sink, void *context) {
    if (capture_is_stopped()) return CAPTURE_STOPPED;
    capture_status const status = input->format != FORMAT_LIBPCAP
                                      ? read_directly(input, max, sink, context)
                                      : read_with_libpcap(input, max, sink, context);
    return capture_is_stopped() ? CAPTURE_STOPPED : status; /* an interrupted read is not damage */
}
