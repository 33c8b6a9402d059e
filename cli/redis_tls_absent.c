/* redis_tls_absent.c - tamis redis --tls in a build without OpenSSL. */
#include "message.h"
#include "redis_tls.h"

tls_context *tls_open(const options *asked) {
    (void)asked;
    die("this build has no TLS: it was made without OpenSSL; install libssl-dev and build it "
        "again");
}

void tls_close(tls_context *context) {
    (void)context;
}

int tls_connect(tls_context *context, const char *host, int port, int timeout_ms) {
    (void)context, (void)host, (void)port, (void)timeout_ms;
    return -1;
}
