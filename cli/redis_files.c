/* redis_files.c - tamis redis import and export: a file becomes the shards of a set, and back.
 *
 * Both are exact and need no keys: tamis_split() and tamis_join() move fingerprints as they are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "message.h"
#include "numbers.h"
#include "progress.h"
#include "redis_shards.h"
#include "setfile.h"

/* A buffer that grows: tamis_write() writes to it. */
typedef struct byte_pile {
    char  *bytes;
    size_t n, room;
} byte_pile;

static bool pile_write(void *context, const void *bytes, size_t n) {
    byte_pile *const pile = context;
    if (pile->n + n > pile->room) {
        size_t const room = 2 * (pile->n + n);
        char *const  larger = realloc(pile->bytes, room);
        if (larger == NULL) return false;
        pile->bytes = larger;
        pile->room = room;
    }
    memcpy(pile->bytes + pile->n, bytes, n);
    pile->n += n;
    return true;
}

static _Noreturn void die_of(const char *failure, const tamis_problem *problem,
                             tamis_status status) {
    die("%s: %s", failure, *problem->text != '\0' ? problem->text : tamis_status_text(status));
}

/* ------------------------------------------------------------------ import */

/* A key that exists already must be this shard: an earlier run has stored it, or a request was sent
 * twice. It is never replaced. Another import of the same file may be ahead of this one, and keys
 * may have been added to the set since it was finished. */
static void check_stored(shards *set, unsigned i, const byte_pile *file) {
    const char       *argv[] = { "TAMIS.DUMP", set->all[i].key };
    redisReply *const reply = shards_ask(set, set->all[i].key, 2, argv, NULL, 0);
    if (reply->type == REDIS_REPLY_ERROR) die("%s: %s", set->all[i].key, reply->str);
    if (reply->type != REDIS_REPLY_STRING || reply->len != file->n ||
        memcmp(reply->str, file->bytes, file->n) != 0)
        die("the key %s exists already, with other contents. If no other command is making %s, "
            "delete %s:tamis and its shards",
            set->all[i].key, set->name, set->name);
    freeReplyObject(reply);
}

static void store_part(shards *set, const tamis_set *part, unsigned i) {
    byte_pile file = { NULL, 0, 0 };
    if (tamis_write(part, pile_write, &file) != TAMIS_OK) die("not enough memory for a shard");
    const char       *argv[] = { "TAMIS.RESTORE", set->all[i].key, file.bytes };
    size_t const      bytes[] = { 13, strlen(set->all[i].key), file.n };
    redisReply *const reply = shards_ask(set, set->all[i].key, 3, argv, bytes, set->replicas);
    if (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "BUSYKEY", 7) == 0)
        check_stored(set, i, &file);
    else if (reply->type == REDIS_REPLY_ERROR)
        die("%s: %s", set->all[i].key, reply->str);
    freeReplyObject(reply);
    free(file.bytes);
    progress_step(i + 1, 0);
}

/* Split a part of 2^level until there are P, and store each: one branch at a time, so that not all
 * of them are in memory at once. Frees `part`. */
static void store_split(shards *set, tamis_set *part, unsigned index, unsigned parts) {
    tamis_set    *first = NULL, *second = NULL;
    tamis_problem problem = { .status = TAMIS_OK };
    if (parts == set->n) {
        store_part(set, part, index);
        tamis_free(part);
        return;
    }
    tamis_status const status = tamis_split(part, &first, &second, &problem);
    if (status != TAMIS_OK) die_of("the set cannot be split", &problem, status);
    tamis_free(part);
    store_split(set, first, 2 * index, 2 * parts);
    store_split(set, second, 2 * index + 1, 2 * parts);
}

/* Before anything is changed: can it be split so often? Empty sets of its shape are tried. */
static tamis_status try_split(const tamis_set *whole, unsigned parts, tamis_problem *problem) {
    tamis_spec   spec = TAMIS_SPEC_INIT;
    tamis_status status = TAMIS_OK;
    spec.like = whole;
    tamis_set *part = set_create(&spec);
    for (unsigned n = 1; n < parts && status == TAMIS_OK; n *= 2) {
        tamis_set *first = NULL, *second = NULL;
        status = tamis_split(part, &first, &second, problem);
        if (status != TAMIS_OK) break;
        tamis_free(part);
        tamis_free(second);
        part = first;
    }
    tamis_free(part);
    return status;
}

/* The number of buckets must be a multiple of the number of shards. A set that can grow doubles it,
 * and keeps what it knows of every key. One of a fixed size has to stay as it is. */
static void prepare_split(tamis_set *whole, unsigned parts, const options *asked) {
    tamis_problem problem = { .status = TAMIS_OK };
    tamis_facts   facts;
    uint64_t      buckets = 0;
    tamis_status  status = try_split(whole, parts, &problem);
    if (status == TAMIS_OK) return;
    (void)!tamis_get_field(whole, "buckets", &buckets); /* 0: its kind cannot be split */
    uint64_t const most = buckets & (~buckets + 1);
    if (buckets == 0 || most >= parts || tamis_get_facts(whole, &facts) != TAMIS_OK)
        die_of("the set cannot be split into that many shards", &problem, status);
    uint64_t const factor = parts / most;
    if (facts.grow_to == 0 || facts.capacity > facts.grow_to / factor)
        die("its %" PRIu64 " buckets are not a multiple of %u shards%s. Write --shards %" PRIu64
            ", or less; or make the set again, from its keys, with --geometry buckets=%" PRIu64
            ", or with --grow-to",
            buckets, parts, facts.grow_to != 0 ? ", and it cannot grow so far" : "", most,
            (buckets + parts - 1) / parts * parts);
    status = tamis_resize(whole, facts.capacity * factor, NULL);
    if (status == TAMIS_OK) status = try_split(whole, parts, &problem);
    if (status != TAMIS_OK)
        die_of("the set cannot be split into that many shards", &problem, status);
    if (!is_given(asked, OPTION_BIT(QUIET)))
        warn("the set grows to %" PRIu64 " times its size, since its %" PRIu64
             " buckets are not a multiple of %u",
             factor, buckets, parts);
}

int shards_import(shards *set, const options *asked, const char *path) {
    tamis_set *const whole = setfile_read(path, asked);
    unsigned const   parts = asked->shards != 0 ? asked->shards : DEFAULT_SHARDS;
    tamis_facts      facts;
    if (tamis_get_facts(whole, &facts) != TAMIS_OK) die("there is no set to inspect");
    if (facts.parts != 0)
        die("%s is part %u of %u: import a whole set", path, facts.part, facts.parts);
    set_meta const wanted = { .is_imported = true,
                              .shards = parts,
                              .hash = facts.hash,
                              .seed = facts.seed,
                              .counts = (facts.abilities & TAMIS_CAN_COUNT) != 0,
                              .kind = "-" };
    if (set->n != 0 && set->meta.is_whole)
        die("%s exists already; choose another name, or delete its keys", set->name);
    if (parts > 1) prepare_split(whole, parts, asked);
    if (!shards_claim(set, &wanted))
        die("another command is making %s, with other options; if it was abandoned, delete "
            "%s:tamis and its shards",
            set->name, set->name);
    progress_begin(0);
    store_split(set, whole, 0, 1);
    shards_finish(set);
    progress_hide();
    if (!is_given(asked, OPTION_BIT(QUIET)))
        warn("%s: %s, in %u %s on %u %s", set->name, path, set->n,
             plural(set->n, "shard", "shards"), shards_nodes(set),
             plural(shards_nodes(set), "node", "nodes"));
    return EXIT_DONE;
}

/* ------------------------------------------------------------------ export */

static tamis_set *fetch_part(shards *set, unsigned i) {
    const char       *argv[] = { "TAMIS.DUMP", set->all[i].key };
    redisReply *const reply = shards_ask(set, set->all[i].key, 2, argv, NULL, 0);
    tamis_set        *part = NULL;
    tamis_problem     problem = { .status = TAMIS_OK };
    if (reply->type == REDIS_REPLY_ERROR) die("%s: %s", set->all[i].key, reply->str);
    if (reply->type != REDIS_REPLY_STRING) die("the shard %s is missing", set->all[i].key);
    tamis_status const status = tamis_read(reply->str, reply->len, NULL, &part, &problem);
    if (status != TAMIS_OK) die_of(set->all[i].key, &problem, status);
    freeReplyObject(reply);
    progress_step(i + 1, 0);
    return part;
}

/* Part `index` of `parts`, joined from the shards below it. A set of one shard is that shard. */
static tamis_set *fetch_joined(shards *set, unsigned index, unsigned parts) {
    tamis_set    *joined = NULL;
    tamis_problem problem = { .status = TAMIS_OK };
    if (parts == set->n) return fetch_part(set, index);
    tamis_set *const   first = fetch_joined(set, 2 * index, 2 * parts);
    tamis_set *const   second = fetch_joined(set, 2 * index + 1, 2 * parts);
    tamis_status const status = tamis_join(first, second, &joined, &problem);
    if (status != TAMIS_OK) die_of("shards cannot be joined", &problem, status);
    tamis_free(first);
    tamis_free(second);
    return joined;
}

int shards_export(shards *set, const options *asked, const char *path) {
    setfile_target target;
    shards_need(set);
    setfile_aim(path, asked, &target);
    progress_begin(0);
    tamis_set *const whole = fetch_joined(set, 0, 1);
    progress_hide();
    setfile_save(whole, &target);
    if (!is_given(asked, OPTION_BIT(QUIET))) {
        tamis_info   info;
        setfile_text text;
        setfile_inspect(whole, &info);
        setfile_describe(&info, text);
        warn("%s: %s", path, text);
    }
    tamis_free(whole);
    return EXIT_DONE;
}
