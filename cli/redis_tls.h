/* redis_tls.h - connections with TLS for a client library that has none.
 *
 * Debian's hiredis 0.14 speaks to a file descriptor. So it gets one end of a pair of sockets, and a
 * thread moves bytes between the other end and the server, through OpenSSL.
 */
#ifndef CLI_REDIS_TLS_H
#define CLI_REDIS_TLS_H

#include "options.h"

/* Whom to trust, and who we are. */
typedef struct tls_context tls_context;

/* Read the files that the options name, or end the program. */
tls_context *tls_open(const options *asked);
void         tls_close(tls_context *context);

/* Connect within `timeout_ms`; then the server's certificate is checked. Returns a descriptor for
 * plain bytes, or -1: nobody answers. A certificate that is not trusted ends the program. */
int tls_connect(tls_context *context, const char *host, int port, int timeout_ms);

#endif
