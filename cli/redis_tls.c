/* redis_tls.c - see redis_tls.h. */
#include "redis_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "message.h"

#define PUMP_BYTES 65536

struct tls_context {
    SSL_CTX        *ssl;
    const char     *name;       /* --tls-name, or NULL */
    char            asked[256]; /* the host of --cluster */
    pthread_mutex_t lock;
    pthread_cond_t  pump_ended;
    size_t          n_pumps; /* that run */
};

static _Noreturn void die_of_tls(const char *failure) {
    char text[256] = "";
    ERR_error_string_n(ERR_peek_last_error(), text, sizeof text);
    die("%s: %s", failure, text);
}

/* The host of "HOST:PORT". */
static void copy_host(const char *address, char *ret_host, size_t bytes) {
    const char *const colon = strrchr(address, ':');
    size_t const      n = colon != NULL ? (size_t)(colon - address) : strlen(address);
    (void)snprintf(ret_host, bytes, "%.*s", (int)(n < bytes ? n : bytes - 1), address);
}

tls_context *tls_open(const options *asked) {
    tls_context *const context = calloc(1, sizeof *context);
    if (context == NULL || pthread_mutex_init(&context->lock, NULL) != 0 ||
        pthread_cond_init(&context->pump_ended, NULL) != 0)
        die("not enough memory");
    context->name = asked->tls_name;
    copy_host(asked->cluster, context->asked, sizeof context->asked);
    context->ssl = SSL_CTX_new(TLS_client_method());
    if (context->ssl == NULL) die_of_tls("TLS");
    SSL_CTX_set_verify(context->ssl, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context->ssl,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    bool const is_trusting =
        asked->ca_file != NULL
            ? SSL_CTX_load_verify_locations(context->ssl, asked->ca_file, NULL) == 1
            : SSL_CTX_set_default_verify_paths(context->ssl) == 1;
    if (!is_trusting) die_of_tls(asked->ca_file != NULL ? asked->ca_file : "the system's CAs");
    if (asked->cert_file != NULL &&
        SSL_CTX_use_certificate_chain_file(context->ssl, asked->cert_file) != 1)
        die_of_tls(asked->cert_file);
    const char *const key = asked->key_file != NULL ? asked->key_file : asked->cert_file;
    if (key != NULL && SSL_CTX_use_PrivateKey_file(context->ssl, key, SSL_FILETYPE_PEM) != 1)
        die_of_tls(key);
    return context;
}

/* A pump ends soon after its connection was closed. When the program ends, OpenSSL tears down what
 * a pump that still runs would use. */
void tls_close(tls_context *context) {
    if (context == NULL) return;
    (void)pthread_mutex_lock(&context->lock);
    while (context->n_pumps != 0) (void)pthread_cond_wait(&context->pump_ended, &context->lock);
    (void)pthread_mutex_unlock(&context->lock);
    (void)pthread_cond_destroy(&context->pump_ended);
    (void)pthread_mutex_destroy(&context->lock);
    SSL_CTX_free(context->ssl);
    free(context);
}

/* ------------------------------------------------------------------ connecting */

static bool is_ready(int descriptor, short events, int timeout_ms) {
    struct pollfd one = { .fd = descriptor, .events = events };
    int           n;
    do n = poll(&one, 1, timeout_ms);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static int connect_to(const struct addrinfo *at, int timeout_ms) {
    int const line = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int       error = 0, yes = 1;
    socklen_t n = sizeof error;
    if (line < 0) return -1;
    if (connect(line, at->ai_addr, at->ai_addrlen) != 0 &&
        (errno != EINPROGRESS || !is_ready(line, POLLOUT, timeout_ms) ||
         getsockopt(line, SOL_SOCKET, SO_ERROR, &error, &n) != 0 || error != 0)) {
        (void)close(line);
        return -1;
    }
    (void)setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return line;
}

static int connect_line(const char *host, int port, int timeout_ms) {
    struct addrinfo const hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo      *all = NULL;
    char                  service[12];
    int                   line = -1;
    (void)snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(host, service, &hints, &all) != 0) return -1;
    for (const struct addrinfo *at = all; at != NULL && line < 0; at = at->ai_next)
        line = connect_to(at, timeout_ms);
    freeaddrinfo(all);
    return line;
}

/* Wait until OpenSSL can continue. False: the connection is lost. */
static bool wait_for_line(SSL *ssl, int result, int timeout_ms) {
    int const error = SSL_get_error(ssl, result);
    int const line = SSL_get_fd(ssl);
    if (error == SSL_ERROR_WANT_READ) return is_ready(line, POLLIN, timeout_ms);
    if (error == SSL_ERROR_WANT_WRITE) return is_ready(line, POLLOUT, timeout_ms);
    return false;
}

static bool is_for(X509 *certificate, const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    bool const    is_address =
        inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    return is_address ? X509_check_ip_asc(certificate, host, 0) == 1
                      : X509_check_host(certificate, host, strlen(host), 0, NULL) == 1;
}

/* Is the certificate for the host that we want to reach? If not, the program ends. */
static void check_name(const tls_context *context, SSL *ssl, const char *host, int port) {
    const char *const wanted = context->name;
    X509 *const       certificate = SSL_get_peer_certificate(ssl);
    bool const        is_right =
        certificate != NULL &&
        (wanted != NULL ? strcmp(wanted, "*") == 0 || is_for(certificate, wanted)
                        : is_for(certificate, host) || is_for(certificate, context->asked));
    X509_free(certificate);
    if (is_right) return;
    if (wanted != NULL) die("%s:%d: its certificate is not for %s", host, port, wanted);
    die("%s:%d: its certificate is for another host; if you know its name, write --tls-name NAME, "
        "or --tls-name '*' for any that is signed",
        host, port);
}

/* The certificate must be signed by an authority that we trust. */
static bool shake_hands(SSL *ssl, const char *host, int port, int timeout_ms) {
    int result;
    while ((result = SSL_connect(ssl)) != 1) {
        if (wait_for_line(ssl, result, timeout_ms)) continue;
        long const verdict = SSL_get_verify_result(ssl);
        if (verdict != X509_V_OK)
            die("%s:%d: its certificate is not trusted: %s", host, port,
                X509_verify_cert_error_string(verdict));
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ the pump */

typedef struct moving_bytes {
    char   bytes[PUMP_BYTES];
    size_t first, n; /* bytes[first .. first + n - 1] are on their way */
} moving_bytes;

typedef struct tls_pump {
    tls_context *context;
    SSL         *ssl;
    int          local; /* our end of the pair */
    bool         is_over;
    moving_bytes out, in; /* to the server, and from it */
} tls_pump;

static void note_moved(moving_bytes *some, size_t n) {
    some->first += n;
    some->n -= n;
    if (some->n == 0) some->first = 0;
}

static bool from_local(tls_pump *pump) {
    if (pump->out.n != 0) return false;
    ssize_t const n = read(pump->local, pump->out.bytes, PUMP_BYTES);
    if (n > 0) pump->out.n = (size_t)n;
    pump->is_over = pump->is_over || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    return n > 0;
}

static bool to_local(tls_pump *pump) {
    if (pump->in.n == 0) return false;
    ssize_t const n = send(pump->local, pump->in.bytes + pump->in.first, pump->in.n, MSG_NOSIGNAL);
    if (n > 0) note_moved(&pump->in, (size_t)n);
    pump->is_over = pump->is_over || (n < 0 && errno != EAGAIN && errno != EINTR);
    return n > 0;
}

static bool is_pausing(SSL *ssl, int result) {
    int const error = SSL_get_error(ssl, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

static bool to_server(tls_pump *pump) {
    if (pump->out.n == 0) return false;
    int const n = SSL_write(pump->ssl, pump->out.bytes + pump->out.first, (int)pump->out.n);
    if (n > 0) note_moved(&pump->out, (size_t)n);
    pump->is_over = pump->is_over || (n <= 0 && !is_pausing(pump->ssl, n));
    return n > 0;
}

static bool from_server(tls_pump *pump) {
    if (pump->in.n != 0) return false;
    int const n = SSL_read(pump->ssl, pump->in.bytes, PUMP_BYTES);
    if (n > 0) pump->in.n = (size_t)n;
    pump->is_over = pump->is_over || (n <= 0 && !is_pausing(pump->ssl, n));
    return n > 0;
}

static void count_pump(tls_context *context, int change) {
    (void)pthread_mutex_lock(&context->lock);
    context->n_pumps += (size_t)change;
    if (context->n_pumps == 0) (void)pthread_cond_signal(&context->pump_ended);
    (void)pthread_mutex_unlock(&context->lock);
}

/* Until one of the two ends closes. What came from the server before that is still handed on. */
static void *run_pump(void *argument) {
    tls_pump *const pump = argument;
    int const       line = SSL_get_fd(pump->ssl);
    while (!pump->is_over) {
        bool const moved[] = { from_local(pump), to_server(pump), from_server(pump),
                               to_local(pump) };
        if (moved[0] || moved[1] || moved[2] || moved[3] || pump->is_over) continue;
        struct pollfd both[2] = {
            { .fd = pump->local,
              .events =
                  (short)((pump->out.n == 0 ? POLLIN : 0) | (pump->in.n != 0 ? POLLOUT : 0)) },
            { .fd = line,
              .events =
                  (short)((pump->in.n == 0 ? POLLIN : 0) | (pump->out.n != 0 ? POLLOUT : 0)) },
        };
        (void)poll(both, 2, -1);
    }
    while (to_local(pump)) {
    }
    (void)SSL_shutdown(pump->ssl);
    SSL_free(pump->ssl);
    (void)close(line);
    (void)close(pump->local);
    tls_context *const context = pump->context;
    free(pump);
    count_pump(context, -1);
    return NULL;
}

/* The descriptor for the client library, or -1. */
static int start_pump(tls_context *context, SSL *ssl) {
    tls_pump *const pump = calloc(1, sizeof *pump);
    int             pair[2];
    pthread_t       thread;
    if (pump == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        die("not enough memory for a connection");
    pump->context = context;
    pump->ssl = ssl;
    pump->local = pair[1];
    (void)fcntl(pair[1], F_SETFL, O_NONBLOCK);
    count_pump(context, 1);
    if (pthread_create(&thread, NULL, run_pump, pump) != 0)
        die("cannot start a thread for a connection");
    (void)pthread_detach(thread);
    return pair[0];
}

int tls_connect(tls_context *context, const char *host, int port, int timeout_ms) {
    int const line = connect_line(host, port, timeout_ms);
    SSL      *ssl = line >= 0 ? SSL_new(context->ssl) : NULL;
    if (line < 0) return -1;
    if (ssl != NULL && SSL_set_fd(ssl, line) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1 &&
        shake_hands(ssl, host, port, timeout_ms)) {
        check_name(context, ssl, host, port);
        return start_pump(context, ssl);
    }
    SSL_free(ssl);
    (void)close(line);
    return -1;
}
