/* commands.h - the table of all commands, with what COMMAND DOCS says of them. */
#ifndef TAMIS_REDIS_COMMANDS_H
#define TAMIS_REDIS_COMMANDS_H

#include "abi.h"

/* False: the server refused one, and the log says which. */
bool commands_create(redis_ctx *ctx);

#endif
