/* scans.h - find sources that try many targets without an answer, and sources that try one target
 * again and again, in bounded memory.
 *
 * For each source in a list (ranking.h), attempts and answers are counted in a window of time that
 * moves on in pieces of SCANS_PIECE_NS: the last SCANS_PIECES, so a minute at least. What a source
 * did well before does not hide a scan, and a source that has stopped is judged by what it did
 * then. The numbers of different targets (host and port) that were tried, and of those that
 * answered, are estimated by 64 small registers each (HyperLogLog: P. Flajolet, E. Fusy, O.
 * Gandouet, F. Meunier, 2007), with a standard error of 13%.
 *
 * A source enters the list with its second attempt. The sources of a flood that forges addresses
 * have one each, so they cannot push out a source that scans meanwhile. Who was seen before is
 * remembered in a table of 16,384 places, by the hash of the address.
 *
 * A source is judged by attempts that are older than SCANS_GRACE_NS, so that a client that opens a
 * hundred connections at once is not judged before they can be answered. SCANS_ATTEMPTS or more
 * must be unanswered:
 *
 *     a scan     many targets have not answered: SCANS_TARGETS or more, and a third or more of all.
 *                However many attempts at the others were answered
 *     retries    few targets, but a third or more of all attempts: a service that is dead
 *
 * A refusal (RST) does not count as an answer here.
 */
#ifndef FLOWS_SCANS_H
#define FLOWS_SCANS_H

#include "ranking.h"

#define SCANS_REGISTERS 64
#define SCANS_PIECES 4
#define SCANS_PIECE_NS UINT64_C(20000000000)
#define SCANS_GRACE_NS UINT64_C(2000000000)
#define SCANS_ATTEMPTS 100
#define SCANS_TARGETS 15
#define SCANS_UNANSWERED_ONE_IN 3
#define SCANS_PLACES 16384 /* of sources that were seen once */

typedef enum scan_verdict { SCAN_NONE, SCAN_RETRIES, SCAN_LIKELY } scan_verdict;

/* What attempts were for: targets, those that answered, hosts and ports. */
typedef struct scan_registers {
    uint8_t targets[SCANS_REGISTERS], answered[SCANS_REGISTERS];
    uint8_t hosts[SCANS_REGISTERS], ports[SCANS_REGISTERS];
} scan_registers;

typedef struct scan_source {
    uint32_t       attempts[SCANS_PIECES], answers[SCANS_PIECES]; /* of the pieces below */
    uint64_t       piece;                                         /* the latest one */
    uint64_t       slot;        /* attempts of this time, in units of SCANS_GRACE_NS, and */
    uint32_t       young[2];    /* of the one before, which are not judged yet */
    scan_verdict   verdict;     /* the worst that was found */
    scan_verdict   told;        /* the worst that was told since it was last silent */
    scan_verdict   latest;      /* of its last window */
    bool           is_recent;   /* attempts, or a verdict was told, since scans_begin_interval() */
    bool           is_settled;  /* nothing has come since it was judged: the verdict is the same */
    host_end       target;      /* the one with most of the attempts in vain, if there is one */
    uint64_t       target_hash; /* of it, */
    uint64_t       votes;       /* and how far it is ahead */
    scan_registers pieces[SCANS_PIECES];        /* by `piece` modulo SCANS_PIECES */
    uint64_t       past_attempts, past_answers; /* all before, since it entered the list */
    scan_registers past;
} scan_source;

typedef struct scans {
    ranking  list;
    uint64_t slot;               /* that was judged last */
    uint64_t busy_until;         /* after this slot, all attempts have been judged */
    uint64_t n_scans, n_retries; /* that were told */
    uint32_t seen[SCANS_PLACES]; /* hashes of sources with an attempt */
    /* Attempts of each source in its last window. All sources are looked at every two seconds, and
     * most have too few: in an array of their own these take few cache lines. */
    uint64_t    tried[RANKING_HOSTS];
    scan_source sources[RANKING_HOSTS];
} scans;

void scans_init(scans *ret_scans, uint64_t seed);

/* Source `from` tries to reach `to`. */
void scans_attempt(scans *s, const host_end *from, const host_end *to, uint64_t now_ns);

/* An attempt of `from` was answered by `to`. */
void scans_answer(scans *s, const host_end *from, const host_end *to, uint64_t now_ns);

/* Time has passed: judge all sources. on_found() is called for each that has become worse. At the
 * end (is_last) attempts are judged without waiting for their answers. */
typedef void scans_found(void *context, uint16_t source);
void scans_judge(scans *s, uint64_t now_ns, bool is_last, scans_found *on_found, void *context);

/* Add the hash of something to 64 registers, and estimate how many different ones they have. */
void   scans_register(uint8_t *registers, uint64_t hash);
double scans_estimate(const uint8_t *registers);

/* What is known of a source: of its last window, or of all the time since it entered the list. */
typedef enum scan_span { SCAN_WINDOW, SCAN_ALL } scan_span;
typedef struct scan_figures {
    uint64_t attempts, answers;
    uint64_t hosts, ports; /* estimates; 0 ports: the protocol has none */
} scan_figures;
scan_figures scans_figures(const scan_source *source, scan_span span);

/* Sources with this verdict, most attempts first. With SCAN_WINDOW: by their last window, and only
 * those that are recent. Returns how many were written. */
size_t scans_list(const scans *s, scan_verdict verdict, scan_span span, uint16_t *ret_sources,
                  size_t max);

void scans_begin_interval(scans *s);

#endif
