/* redis.h - limits of the commands of the Redis module, for programs that send them.
 *
 * docs/redis.md has the commands. There is nothing to link with.
 */
#ifndef TAMIS_REDIS_H
#define TAMIS_REDIS_H

/** Items of TAMIS.ADD and TAMIS.REMOVE with REQUEST. (Without it there is no limit.) */
#define TAMIS_REDIS_REQUEST_ITEMS 4096

/** Bytes of the name of a client of REQUEST: 1 to so many. */
#define TAMIS_REDIS_CLIENT_BYTES 32

/** Clients of REQUEST that a key remembers. */
#define TAMIS_REDIS_CLIENTS 64

#endif
