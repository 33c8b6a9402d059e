/* redis_tls.h - connections with TLS for a client library that has none.
 *
 * Debian's hiredis 0.14 speaks to a file descriptor. So it gets one end of a pair of sockets, and a
 * thread moves bytes between the other end and the server, through OpenSSL.
 */
#ifndef CLI_REDIS_TLS_H
#define CLI_REDIS_TLS_H

#include "options.h"

/* Which certificates to trust, and the certificate of this client. */
typedef struct tls_context tls_context;

/* Read the files that the options name, or end the program. */
tls_context *tls_open(const options *asked);

/* After all connections are closed. */
void tls_close(tls_context *context);

/* Connect within `timeout_ms`; then the server's certificate is checked. Returns a descriptor for
 * plain bytes, or -1: nobody answers. A certificate that is not trusted ends the program.
 *
 * It must have the name that --tls-name gives. Without that option, the host of --cluster, or the
 * host by which this node is reached: other nodes of a cluster are known by addresses that the
 * first one tells, and a certificate for the name that the user wrote is as good for them. */
int tls_connect(tls_context *context, const char *host, int port, int timeout_ms);

#endif
