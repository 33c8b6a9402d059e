/* log_spec.h - which flows are logged, in which columns: the options of a flow log (flow_log.h). */
#ifndef FLOWS_LOG_SPEC_H
#define FLOWS_LOG_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include <tamis/tamis.h>

typedef enum log_column {
    LOG_TIME, /* of the beginning */
    LOG_END,
    LOG_DURATION,
    LOG_PROTOCOL,
    LOG_CLIENT,
    LOG_CLIENT_PORT,
    LOG_SERVER,
    LOG_SERVER_PORT,
    LOG_STATE,        /* at the end */
    LOG_CAUSE,        /* why it ended: see log_cause */
    LOG_CLIENT_BYTES, /* of payload, sent by the client */
    LOG_SERVER_BYTES,
    LOG_CLIENT_PACKETS,
    LOG_SERVER_PACKETS,
    LOG_IS_GUESS, /* the client was guessed by ports */
    N_LOG_COLUMNS
} log_column;

const char *log_column_name(size_t i); /* NULL after the last */

/* Why a flow has a line. */
typedef enum log_cause {
    CAUSE_PACKET,  /* a packet has ended it */
    CAUSE_REUSED,  /* a packet with the same ends has begun another flow */
    CAUSE_TIMEOUT, /* it was silent for longer than the timeout of its state */
    CAUSE_EVICTED, /* it was forgotten to make room */
    CAUSE_RUNNING, /* it went on when the capture ended */
    N_LOG_CAUSES
} log_cause;

typedef char log_field[64];

#define LOG_TESTS 8
#define LOG_ENDS 65536 /* by default */

/* A test of a column, as in server_port=443 or client_bytes>1000000. */
typedef struct log_test {
    log_column column;
    char       sign[3];
    log_field  value;
} log_test;

typedef struct flow_log_spec {
    const char *path;   /* "-": standard output */
    uint32_t    n_ends; /* flows whose ends are remembered: see ends.h */
    bool        is_json;
    log_column  columns[N_LOG_COLUMNS];
    size_t      n_columns;
    log_test    tests[LOG_TESTS]; /* a line must pass all */
    size_t      n_tests;
    double      fpr; /* as for the table of flows */
    uint64_t    capacity;
    tamis_seed  seed;
} flow_log_spec;

/* Read "client,server,state" or "state=closed,client_bytes>1000". Returns a complaint, or NULL. */
const char *flow_log_read_columns(const char *text, flow_log_spec *spec);
const char *flow_log_read_tests(const char *text, flow_log_spec *spec);

void flow_log_all_columns(flow_log_spec *spec);

#endif
