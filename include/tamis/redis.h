/* redis.h - limits of the commands of the Redis module, for client programs.
 *
 * docs/redis.md has the commands. There is nothing to link with.
 */
#ifndef TAMIS_REDIS_H
#define TAMIS_REDIS_H

/** The most items in one TAMIS.ADD or TAMIS.REMOVE with REQUEST. (Without REQUEST, no limit.) */
#define TAMIS_REDIS_REQUEST_ITEMS 4096

/** The longest client name for REQUEST, in bytes. The shortest is 1. */
#define TAMIS_REDIS_CLIENT_BYTES 32

/** How many REQUEST clients a key remembers. */
#define TAMIS_REDIS_CLIENTS 64

#endif
