/* redis_ensure.c - tamis redis load: a set that does not exist yet is made; of one that exists, all
 * shards must be there. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "message.h"
#include "redis_shards.h"

/* Keys are spread by their hashes, so a shard may get a few more than its share: six sigma. */
static uint64_t share_of(uint64_t keys, unsigned n) {
    double const mean = (double)keys / n;
    return (uint64_t)ceil(mean + (n == 1 ? 0 : 6 * sqrt(mean)));
}

static int add_words(const char **argv, int argc, const char *word, const char *value) {
    argv[argc++] = word;
    if (value != NULL) argv[argc++] = value;
    return argc;
}

/* What TAMIS.INFO says under this name. NULL: nothing, or no text. */
static const char *info_text(const redisReply *info, const char *name) {
    for (size_t i = 0; i + 1 < info->elements; i += 2) {
        const redisReply *const key = info->element[i];
        if (key->str != NULL && strcmp(key->str, name) == 0) return info->element[i + 1]->str;
    }
    return NULL;
}

/* A shard that exists already must be of this set: with its seed, and its error rate. It may be
 * what is left of another one, of which only NAME:tamis was deleted. */
static void check_reserved(shards *set, unsigned i, const char *seed) {
    const char       *argv[] = { "TAMIS.INFO", set->all[i].key };
    redisReply *const info = shards_ask(set, set->all[i].key, 2, argv, NULL, 0);
    if (info->type == REDIS_REPLY_ERROR) die("%s: %s", set->all[i].key, info->str);
    const char *const its_seed = info_text(info, "seed");
    const char *const its_rate = info_text(info, "asked error");
    if (its_seed == NULL || strcmp(its_seed, seed) != 0 || its_rate == NULL ||
        strtod(its_rate, NULL) != set->meta.fpr)
        die("the key %s exists already, and is of another set. Delete %s:tamis and its shards, or "
            "choose another name",
            set->all[i].key, set->name);
    freeReplyObject(info);
}

/* TAMIS.RESERVE for every shard. One that exists already was made by a run that did not get to its
 * end, or is doing the same just now. */
static void reserve_shards(shards *set) {
    const set_meta *const meta = &set->meta;
    char                  error[40], first[24], last[24], seed[40];
    (void)snprintf(error, sizeof error, "%.17g", meta->fpr);
    (void)snprintf(first, sizeof first, "%" PRIu64, share_of(meta->capacity, set->n));
    (void)snprintf(last, sizeof last, "%" PRIu64, share_of(meta->grow_to, set->n));
    (void)snprintf(seed, sizeof seed, "%016" PRIx64 "%016" PRIx64, meta->seed.high, meta->seed.low);
    const char *argv[16] = {
        "TAMIS.RESERVE", NULL, "ERROR", error, "CAPACITY", first, "SEED", seed
    };
    int argc = 8;
    if (meta->grow_to != 0) argc = add_words(argv, argc, "GROWTO", last);
    if (strcmp(meta->kind, "-") != 0) argc = add_words(argv, argc, "KIND", meta->kind);
    if (meta->counts) argc = add_words(argv, argc, "COUNTING", NULL);
    round_request *const all = shards_ask_all(set, argc, argv, set->n != 1, set->replicas);
    for (unsigned i = 0; i < set->n; i++) {
        const redisReply *const reply = all[i].reply;
        if (reply->type != REDIS_REPLY_ERROR) continue;
        if (strstr(reply->str, "exists already") == NULL)
            die("%s: %s", set->all[i].key, reply->str);
        check_reserved(set, i, seed);
    }
    shards_free_all(set, all);
}

/* A missing shard was lost. An empty one in its place would hide that. */
static void need_all_shards(shards *set) {
    const char          *argv[] = { "EXISTS", NULL };
    unsigned             missing = 0;
    round_request *const all = shards_ask_all(set, 2, argv, false, 0);
    for (unsigned i = 0; i < set->n; i++) {
        if (all[i].reply->type == REDIS_REPLY_ERROR)
            die("%s: %s", set->all[i].key, all[i].reply->str);
        missing += all[i].reply->integer == 0;
    }
    shards_free_all(set, all);
    if (missing != 0)
        die("%s: %u of its %u %s missing, and the keys in them are lost. Restore them from a "
            "backup; or delete %s:tamis and the shards that are left, and load all keys again",
            set->name, missing, set->n, set->n == 1 ? "shard is" : "shards are", set->name);
}

static tamis_seed random_seed(void) {
    tamis_facts facts;
    tamis_spec  any = TAMIS_SPEC_INIT;
    any.capacity = 1;
    any.fpr = 0.5;
    tamis_set *const lucky = set_create(&any);
    if (tamis_get_facts(lucky, &facts) != TAMIS_OK) die("no seed");
    tamis_free(lucky);
    return facts.seed;
}

void shards_ensure(shards *set, const options *asked) {
    if (set->n == 0) {
        set_meta wanted = meta_of_options(asked);
        if (asked->spec.seed == NULL) wanted.seed = random_seed();
        (void)shards_claim(set, &wanted); /* if another client makes one, that one is used */
    }
    const char *const other = meta_conflict(&set->meta, asked);
    if (other != NULL)
        die("%s exists, and was made with another %s; leave out this option, or choose another "
            "name",
            set->name, other);
    if (set->meta.is_whole) {
        need_all_shards(set);
        return;
    }
    if (set->meta.is_imported) die("%s: an import was not finished; run it again first", set->name);
    reserve_shards(set);
    shards_finish(set);
}
