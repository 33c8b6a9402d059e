/* commands.c - the table of all commands, and their registration at the server. */
#include "commands.h"

#include "bf.h"
#include "chunks.h"
#include "clock.h"
#include "native.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ arguments */

#define KEY \
    { .name = "key", .type = REDIS_ARG_KEY, .key_spec = 0 }
#define KEY2(n, spec) \
    { .name = n, .type = REDIS_ARG_KEY, .key_spec = spec }
#define ONE(n, kind) \
    { .name = n, .type = REDIS_ARG_##kind, .key_spec = -1 }
#define MANY(n, kind) \
    { .name = n, .type = REDIS_ARG_##kind, .key_spec = -1, .flags = REDIS_ARG_MULTIPLE }
#define WITH(n, kind, word)                                                 \
    {                                                                       \
        .name = n, .type = REDIS_ARG_##kind, .key_spec = -1, .token = word, \
        .flags = REDIS_ARG_OPTIONAL                                         \
    }
#define MUST(n, kind, word) \
    { .name = n, .type = REDIS_ARG_##kind, .key_spec = -1, .token = word }
#define LIKE                                                                   \
    {                                                                          \
        .name = "like", .type = REDIS_ARG_KEY, .key_spec = 1, .token = "LIKE", \
        .flags = REDIS_ARG_OPTIONAL                                            \
    }
#define WORD(n, word)                                                      \
    {                                                                      \
        .name = n, .type = REDIS_ARG_TOKEN, .key_spec = -1, .token = word, \
        .flags = REDIS_ARG_OPTIONAL                                        \
    }
#define ITEMS                                                                       \
    {                                                                               \
        .name = "item", .type = REDIS_ARG_STRING, .key_spec = -1, .token = "ITEMS", \
        .flags = REDIS_ARG_MULTIPLE                                                 \
    }
#define END \
    { .name = NULL }

static redis_arg key_only[] = { KEY, END };
static redis_arg key_item[] = { KEY, ONE("item", STRING), END };
static redis_arg key_items[] = { KEY, MANY("item", STRING), END };
static redis_arg request_words[] = { MUST("request", TOKEN, "REQUEST"), ONE("client", STRING),
                                     ONE("n", INTEGER), MUST("items", TOKEN, "ITEMS"), END };
static redis_arg key_request_items[] = { KEY,
                                         { .name = "request",
                                           .type = REDIS_ARG_BLOCK,
                                           .key_spec = -1,
                                           .flags = REDIS_ARG_OPTIONAL,
                                           .subargs = request_words },
                                         MANY("item", STRING),
                                         END };
static redis_arg counting_words[] = {
    MUST("counting", TOKEN, "COUNTING"),
    { .name = "most", .type = REDIS_ARG_INTEGER, .key_spec = -1, .flags = REDIS_ARG_OPTIONAL },
    END
};
static redis_arg part_words[] = { MUST("part", TOKEN, "PART"), ONE("i", INTEGER),
                                  ONE("parts", INTEGER), END };
static redis_arg dump_args[] = { KEY, ONE("iterator", INTEGER), END };
static redis_arg load_args[] = { KEY, ONE("iterator", INTEGER), ONE("data", STRING), END };

static redis_arg bf_reserve_args[] = { KEY,
                                       ONE("error_rate", DOUBLE),
                                       ONE("capacity", INTEGER),
                                       WITH("expansion", INTEGER, "EXPANSION"),
                                       WORD("nonscaling", "NONSCALING"),
                                       END };
static redis_arg bf_insert_args[] = { KEY,
                                      WITH("capacity", INTEGER, "CAPACITY"),
                                      WITH("error", DOUBLE, "ERROR"),
                                      WITH("expansion", INTEGER, "EXPANSION"),
                                      WORD("nocreate", "NOCREATE"),
                                      WORD("nonscaling", "NONSCALING"),
                                      ITEMS,
                                      END };
static redis_arg bf_info_words[] = {
    MUST("capacity", TOKEN, "CAPACITY"),   MUST("size", TOKEN, "SIZE"),
    MUST("filters", TOKEN, "FILTERS"),     MUST("items", TOKEN, "ITEMS"),
    MUST("expansion", TOKEN, "EXPANSION"), END
};
static redis_arg bf_info_args[] = { KEY,
                                    { .name = "single_value",
                                      .type = REDIS_ARG_ONE_OF,
                                      .key_spec = -1,
                                      .flags = REDIS_ARG_OPTIONAL,
                                      .subargs = bf_info_words },
                                    END };
static redis_arg cf_reserve_args[] = { KEY,
                                       ONE("capacity", INTEGER),
                                       WITH("bucketsize", INTEGER, "BUCKETSIZE"),
                                       WITH("maxiterations", INTEGER, "MAXITERATIONS"),
                                       WITH("expansion", INTEGER, "EXPANSION"),
                                       END };
static redis_arg cf_insert_args[] = { KEY, WITH("capacity", INTEGER, "CAPACITY"),
                                      WORD("nocreate", "NOCREATE"), ITEMS, END };

static redis_arg set_reserve_args[] = { KEY,
                                        MUST("error", DOUBLE, "ERROR"),
                                        MUST("capacity", INTEGER, "CAPACITY"),
                                        WITH("growto", INTEGER, "GROWTO"),
                                        WITH("kind", STRING, "KIND"),
                                        { .name = "counting",
                                          .type = REDIS_ARG_BLOCK,
                                          .key_spec = -1,
                                          .flags = REDIS_ARG_OPTIONAL,
                                          .subargs = counting_words },
                                        WORD("small", "SMALL"),
                                        WITH("seed", STRING, "SEED"),
                                        LIKE,
                                        WITH("timeout", DOUBLE, "TIMEOUT"),
                                        { .name = "part",
                                          .type = REDIS_ARG_BLOCK,
                                          .key_spec = -1,
                                          .flags = REDIS_ARG_OPTIONAL,
                                          .subargs = part_words },
                                        END };
static redis_arg states_reserve_args[] = { KEY,
                                           MUST("error", DOUBLE, "ERROR"),
                                           MUST("capacity", INTEGER, "CAPACITY"),
                                           MUST("values", INTEGER, "VALUES"),
                                           WITH("growto", INTEGER, "GROWTO"),
                                           WITH("kind", STRING, "KIND"),
                                           WITH("seed", STRING, "SEED"),
                                           LIKE,
                                           WITH("timeout", DOUBLE, "TIMEOUT"),
                                           END };
static redis_arg plan_args[] = { MUST("error", DOUBLE, "ERROR"),
                                 MUST("capacity", INTEGER, "CAPACITY"),
                                 WITH("growto", INTEGER, "GROWTO"),
                                 WITH("kind", STRING, "KIND"),
                                 { .name = "counting",
                                   .type = REDIS_ARG_BLOCK,
                                   .key_spec = -1,
                                   .flags = REDIS_ARG_OPTIONAL,
                                   .subargs = counting_words },
                                 WORD("small", "SMALL"),
                                 WITH("values", INTEGER, "VALUES"),
                                 WITH("timeout", DOUBLE, "TIMEOUT"),
                                 END };
static redis_arg info_args[] = { KEY, WORD("scan", "SCAN"), END };
static redis_arg merge_args[] = { KEY2("into", 0), KEY2("from", 1), END };
static redis_arg restore_args[] = { KEY, ONE("file", STRING), WORD("replace", "REPLACE"), END };
static redis_arg pair_args[] = { ONE("item", STRING), ONE("value", INTEGER), END };
static redis_arg put_args[] = { KEY,
                                { .name = "pair",
                                  .type = REDIS_ARG_BLOCK,
                                  .key_spec = -1,
                                  .flags = REDIS_ARG_MULTIPLE,
                                  .subargs = pair_args },
                                END };
static redis_arg move_args[] = { KEY, ONE("from", STRING), ONE("to", INTEGER), MANY("item", STRING),
                                 END };
static redis_arg drop_args[] = { KEY, ONE("from", STRING), MANY("item", STRING), END };
static redis_arg tick_args[] = { KEY, ONE("ticks", INTEGER), ONE("steps", INTEGER),
                                 ONE("now", INTEGER), END };
static redis_arg make_args[] = { KEY, ONE("recipe", STRING), END };

/* ------------------------------------------------------------------ the table */

typedef enum key_access { NONE, READS, ADDS, REMOVES, MAKES } key_access;

typedef struct command_row {
    const char    *name;
    redis_handler *handler;
    const char    *flags;
    key_access     access;
    int            arity;
    const char    *since, *complexity, *summary;
    redis_arg     *args;
    int            last_key;
} command_row;

#define WRITE "write deny-oom"
#define READ "readonly fast"
#define ONCE "O(1)"
#define EACH "O(N), where N is the number of items"
#define ALL "O(N), where N is the size of the set"

static const command_row commands[] = {
    { "bf.reserve", bf_reserve, WRITE, MAKES, -4, "1.0.0", ONCE,
      "Makes an empty set whose items cannot be removed", bf_reserve_args, 1 },
    { "bf.add", bf_add, WRITE, ADDS, 3, "1.0.0", ONCE,
      "Adds an item, and tells whether it was new. Makes the set if there is none", key_item, 1 },
    { "bf.madd", bf_madd, WRITE, ADDS, -3, "1.0.0", EACH,
      "Adds items, and tells which were new. Makes the set if there is none", key_items, 1 },
    { "bf.insert", bf_insert, WRITE, ADDS, -4, "1.0.0", EACH,
      "Adds items. Makes the set as the options say if there is none", bf_insert_args, 1 },
    { "bf.exists", bf_exists, READ, READS, 3, "1.0.0", ONCE, "Tells whether an item was added",
      key_item, 1 },
    { "bf.mexists", bf_mexists, READ, READS, -3, "1.0.0", EACH, "Tells which items were added",
      key_items, 1 },
    { "bf.card", bf_card, READ, READS, 2, "2.4.4", ONCE, "Counts the items that were new", key_only,
      1 },
    { "bf.info", bf_info, READ, READS, -2, "1.0.0", ONCE, "Describes a set", bf_info_args, 1 },
    { "bf.debug", bf_debug, READ, READS, 2, "1.0.0", ONCE, "Describes the parts of a set", key_only,
      1 },
    { "bf.scandump", bf_scandump, READ, READS, 3, "1.0.0", ALL, "Begins or continues a dump",
      dump_args, 1 },
    { "bf.loadchunk", bf_loadchunk, WRITE, MAKES, 4, "1.0.0", ALL,
      "Takes a piece of a dump; the last one makes the key", load_args, 1 },

    { "cf.reserve", cf_reserve, WRITE, MAKES, -3, "1.0.0", ONCE,
      "Makes an empty set that counts copies and can remove them", cf_reserve_args, 1 },
    { "cf.add", cf_add, WRITE, ADDS, 3, "1.0.0", ONCE,
      "Adds a copy of an item. Makes the set if there is none", key_item, 1 },
    { "cf.addnx", cf_addnx, WRITE, ADDS, 3, "1.0.0", ONCE,
      "Adds an item unless it is there. Makes the set if there is none", key_item, 1 },
    { "cf.insert", cf_insert, WRITE, ADDS, -4, "1.0.0", EACH,
      "Adds a copy of each item. Makes the set if there is none", cf_insert_args, 1 },
    { "cf.insertnx", cf_insertnx, WRITE, ADDS, -4, "1.0.0", EACH,
      "Adds each item unless it is there. Makes the set if there is none", cf_insert_args, 1 },
    { "cf.exists", cf_exists, READ, READS, 3, "1.0.0", ONCE, "Tells whether an item is there",
      key_item, 1 },
    { "cf.mexists", cf_mexists, READ, READS, -3, "1.0.0", EACH, "Tells which items are there",
      key_items, 1 },
    { "cf.count", cf_count, READ, READS, 3, "1.0.0", ONCE, "Counts the copies of an item", key_item,
      1 },
    { "cf.del", cf_del, "write fast", REMOVES, 3, "1.0.0", ONCE, "Removes a copy of an item",
      key_item, 1 },
    { "cf.compact", cf_compact, READ, READS, 2, "1.0.0", ONCE,
      "Does nothing: there is nothing to compact", key_only, 1 },
    { "cf.info", cf_info, READ, READS, 2, "1.0.0", ONCE, "Describes a set", key_only, 1 },
    { "cf.debug", cf_debug, READ, READS, 2, "1.0.0", ONCE, "Describes a set in one line", key_only,
      1 },
    { "cf.scandump", cf_scandump, READ, READS, 3, "1.0.0", ALL, "Begins or continues a dump",
      dump_args, 1 },
    { "cf.loadchunk", cf_loadchunk, WRITE, MAKES, 4, "1.0.0", ALL,
      "Takes a piece of a dump; the last one makes the key", load_args, 1 },

    { "tamis.reserve", set_reserve, WRITE, MAKES, -4, "0.1.0", ONCE,
      "Makes an empty set of the kind that fits best", set_reserve_args, 1 },
    { "tamis.add", set_add, WRITE, ADDS, -3, "0.1.0", EACH,
      "Adds a copy of each item, and tells which were new", key_request_items, 1 },
    { "tamis.has", set_has, READ, READS, -3, "0.1.0", EACH, "Tells which items are there",
      key_items, 1 },
    { "tamis.remove", set_remove, "write fast", REMOVES, -3, "0.1.0", EACH,
      "Removes a copy of each item", key_request_items, 1 },
    { "tamis.count", set_count, READ, READS, -3, "0.1.0", EACH, "Counts the copies of each item",
      key_items, 1 },
    { "tamis.info", set_info, "readonly", READS, -2, "0.1.0", ONCE,
      "Describes a key: errors, fullness, size. SCAN reads all of it for the current error",
      info_args, 1 },
    { "tamis.plan", set_plan, "readonly", NONE, -5, "0.1.0", ONCE,
      "Compares the kinds that can do a job, and makes nothing", plan_args, 0 },
    { "tamis.merge", set_merge, WRITE, ADDS, 3, "0.1.0", ALL,
      "Adds the contents of another key that was made LIKE this one", merge_args, 2 },
    { "tamis.dump", set_dump, "readonly", READS, 2, "0.1.0", ALL,
      "Returns the set as a file of the library", key_only, 1 },
    { "tamis.restore", set_restore, WRITE, MAKES, -3, "0.1.0", ALL,
      "Makes a key from a file of the library", restore_args, 1 },

    { "tamis.state.reserve", states_reserve, WRITE, MAKES, -4, "0.1.0", ONCE,
      "Makes an empty table of items that have a value", states_reserve_args, 1 },
    { "tamis.state.put", states_put, WRITE, ADDS, -4, "0.1.0", EACH, "Adds items with their values",
      put_args, 1 },
    { "tamis.state.get", states_get, READ, READS, -3, "0.1.0", EACH,
      "Returns the value of each item, nil, or UNKNOWN", key_items, 1 },
    { "tamis.state.move", states_move, "write fast", ADDS, -5, "0.1.0", EACH,
      "Gives another value to items that have the value `from`, or * for any", move_args, 1 },
    { "tamis.state.touch", states_touch, "write fast", ADDS, -3, "0.1.0", EACH,
      "Starts the timeout of items again", key_items, 1 },
    { "tamis.state.drop", states_drop, "write fast", REMOVES, -4, "0.1.0", EACH,
      "Removes items that have the value `from`, or * for any", drop_args, 1 },
    { "tamis.state.tally", states_tally, "readonly", READS, 2, "0.1.0", ALL,
      "Counts the items of each value", key_only, 1 },

    { "tamis.make", command_make, WRITE, MAKES, 3, "0.1.0", ONCE,
      "For replicas and append-only files: makes a part of a key", make_args, 1 },
    { "tamis.tick", command_tick, "write", ADDS, 5, "0.1.0", ONCE,
      "For replicas and append-only files: lets time pass in a key", tick_args, 1 },
    { "tamis.loadchunk", command_loadchunk, WRITE, MAKES, 4, "0.1.0", ALL,
      "For replicas and append-only files: takes a piece of a value", load_args, 1 },
};

/* ------------------------------------------------------------------ registration */

static uint64_t key_flags(key_access access) {
    switch (access) {
    case ADDS: return REDIS_KEY_RW | REDIS_KEY_INSERT | REDIS_KEY_ACCESS;
    case REMOVES: return REDIS_KEY_RW | REDIS_KEY_DELETE | REDIS_KEY_ACCESS;
    case MAKES: return REDIS_KEY_RW | REDIS_KEY_INSERT;
    default: return REDIS_KEY_RO | REDIS_KEY_ACCESS;
    }
}

/* A second key, which is only read: the second one of MERGE, or the one after LIKE. */
static bool has_second_key(const command_row *command, redis_key_spec *ret_spec) {
    bool const has_like = strcmp(command->name, "tamis.reserve") == 0 ||
                          strcmp(command->name, "tamis.state.reserve") == 0;
    *ret_spec = (redis_key_spec){ .flags = REDIS_KEY_RO | REDIS_KEY_ACCESS,
                                  .find_keys = REDIS_FIND_RANGE,
                                  .find.range = { 0, 1, 0 } };
    if (has_like) {
        ret_spec->begin_search = REDIS_BEGIN_KEYWORD;
        ret_spec->begin.keyword.keyword = "LIKE";
        ret_spec->begin.keyword.start_from = 2;
    } else {
        ret_spec->begin_search = REDIS_BEGIN_INDEX;
        ret_spec->begin.index.position = 2;
    }
    return has_like || command->last_key == 2;
}

/* A server derives the categories of its own commands from their flags, those of a module's not:
 * without this, rules as `-@write` would not concern us. */
static void categorise(redis_command *made, const command_row *command) {
    char              text[48];
    bool const        is_fast = strstr(command->flags, "fast") != NULL;
    char const        letter = command->name[0];
    const char *const own = redis_AddACLCategory == NULL ? ""
                            : letter == 'b'              ? " bloom"
                            : letter == 'c'              ? " cuckoo"
                                                         : " tamis";
    if (redis_SetCommandACLCategories == NULL) return;
    (void)snprintf(text, sizeof text, "%s %s%s",
                   strncmp(command->flags, "write", 5) == 0 ? "write" : "read",
                   is_fast ? "fast" : "slow", own);
    (void)redis_SetCommandACLCategories(made, text);
}

static bool describe(redis_ctx *ctx, const command_row *command) {
    static const redis_info_version version = { 1, sizeof(redis_history), sizeof(redis_key_spec),
                                                sizeof(redis_arg) };
    redis_key_spec                  specs[3];
    memset(specs, 0, sizeof specs);
    specs[0] = (redis_key_spec){ .flags = key_flags(command->access),
                                 .begin_search = REDIS_BEGIN_INDEX,
                                 .begin.index.position = 1,
                                 .find_keys = REDIS_FIND_RANGE,
                                 .find.range = { 0, 1, 0 } };
    if (!has_second_key(command, &specs[1])) memset(&specs[1], 0, sizeof specs[1]);
    redis_command_info const info = { .version = &version,
                                      .summary = command->summary,
                                      .complexity = command->complexity,
                                      .since = command->since,
                                      .arity = command->arity,
                                      .key_specs = command->last_key != 0 ? specs : NULL,
                                      .args = command->args };
    redis_command *const     made = redis_GetCommand(ctx, command->name);
    if (made == NULL || redis_SetCommandInfo(made, &info) != REDIS_OK) return false;
    categorise(made, command);
    return true;
}

bool commands_create(redis_ctx *ctx) {
    if (redis_AddACLCategory != NULL) {
        (void)redis_AddACLCategory(ctx, "bloom");
        (void)redis_AddACLCategory(ctx, "cuckoo");
        (void)redis_AddACLCategory(ctx, "tamis");
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const command_row *const one = &commands[i];
        int const                first = one->last_key != 0;
        bool const is_made = redis_CreateCommand(ctx, one->name, one->handler, one->flags, first,
                                                 one->last_key, first) == REDIS_OK;
        if (is_made && describe(ctx, one)) continue;
        redis_Log(ctx, "warning",
                  "tamis: the server refused the command %s (is another module with it loaded?)",
                  one->name);
        return false;
    }
    return true;
}
