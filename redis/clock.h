/* clock.h - items that expire: the server's clock becomes ticks of a table.
 *
 * Only a primary decides what time it is. Before a command uses a table with a timeout, the ticks
 * that have passed since the last one are counted, the sweep goes on for a bounded time, and
 * TAMIS.TICK tells replicas and the append-only file exactly what was done. They never look at
 * their own clocks, so they answer the same. The server's cron does the same for tables that
 * nobody uses.
 */
#ifndef TAMIS_REDIS_CLOCK_H
#define TAMIS_REDIS_CLOCK_H

#include "value.h"

/* How long a tick is for a timeout, and how many ticks that is. */
uint64_t clock_tick_ms(uint64_t timeout_ms);

/* Let time pass in the value of this key, if this server decides about time. */
void clock_advance(redis_ctx *ctx, redis_string *key, tamis_value *value);

/* What a replica does: let these ticks pass, sweep this many bounded steps, and set the time. */
bool clock_apply(tamis_value *value, uint64_t ticks, uint64_t steps, uint64_t now_ms);

/* The list of values that age: where each one was last seen. */
void clock_watch(tamis_value *value, int db, const redis_string *key);
void clock_forget(tamis_value *value);

/* Bytes of its place in the list. */
size_t clock_memory(const tamis_value *value);
void   clock_moved(tamis_value *value); /* the value has another address now */

/* Called by the server's cron. */
void clock_cron(redis_ctx *ctx);

redis_handler command_tick;

#endif
