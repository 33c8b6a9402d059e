/* redis_shards.c - see redis_shards.h. */
#include "redis_shards.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "commands.h"
#include "message.h"

/* ------------------------------------------------------------------ names */

static const char *checked_name(const options *asked) {
    const char *const name = asked->n_operands > 1 ? asked->operands[1] : NULL;
    if (name == NULL)
        die("the name of the set is missing; write it after '%s'", asked->operands[0]);
    if (*name == '\0' || strlen(name) > 200 || strpbrk(name, "{} \n") != NULL)
        die("'%s' cannot be the name of a set: 1 to 200 bytes without braces and blanks", name);
    return name;
}

/* FNV-1a of the name: sets of different names begin at different tags. */
static uint32_t first_tag(const char *name) {
    uint32_t hash = UINT32_C(2166136261);
    for (const char *at = name; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * UINT32_C(16777619);
    return hash;
}

/* Find a tag for each shard, by trying one after the other. About P ln P are tried. */
static void name_shards(shards *set) {
    unsigned found = 0;
    free(set->all);
    set->all = calloc(set->n, sizeof *set->all);
    if (set->all == NULL) die("not enough memory for %u shards", set->n);
    for (uint64_t tag = first_tag(set->name); found < set->n; tag++) {
        char           text[24];
        int const      bytes = snprintf(text, sizeof text, "%" PRIu64, tag);
        unsigned const slot = slot_of_key(text, (size_t)bytes);
        unsigned const i = (unsigned)((uint64_t)slot * set->n / CLUSTER_SLOTS);
        if (set->all[i].key[0] != '\0') continue;
        set->all[i].slot = slot;
        (void)snprintf(set->all[i].key, sizeof set->all[i].key, "%s:{%s}:%u", set->name, text, i);
        found++;
    }
}

unsigned shards_nodes(const shards *set) {
    bool     is_used[MAX_NODES] = { false };
    unsigned used = 0;
    for (unsigned i = 0; i < set->n; i++) {
        int const owner = set->nodes.owner[set->all[i].slot];
        if (owner == NO_NODE || is_used[owner]) continue;
        is_used[owner] = true;
        used++;
    }
    return used;
}

/* ------------------------------------------------------------------ one key */

redisReply *shards_ask(shards *set, const char *key, int argc, const char **argv,
                       const size_t *argv_bytes, unsigned replicas) {
    size_t bytes[16];
    for (int i = 0; i < argc; i++) bytes[i] = argv_bytes != NULL ? argv_bytes[i] : strlen(argv[i]);
    round_request one = {
        .slot = slot_of_key(key, strlen(key)), .argc = argc, .argv = argv, .argv_bytes = bytes
    };
    round_run(&set->nodes, &one, 1, replicas);
    return one.reply;
}

/* ------------------------------------------------------------------ all shards */

#define MOST_WORDS 20

/* The words of one shard. */
typedef struct shard_words {
    const char *argv[MOST_WORDS];
    size_t      bytes[MOST_WORDS];
    char        part[12], parts[12];
} shard_words;

static int write_words(const shards *set, unsigned i, int argc, const char **argv, bool has_part,
                       shard_words *to) {
    memcpy(to->argv, argv, (size_t)argc * sizeof *argv);
    to->argv[1] = set->all[i].key;
    if (has_part) {
        (void)snprintf(to->part, sizeof to->part, "%u", i);
        (void)snprintf(to->parts, sizeof to->parts, "%u", set->n);
        to->argv[argc++] = "PART";
        to->argv[argc++] = to->part;
        to->argv[argc++] = to->parts;
    }
    for (int w = 0; w < argc; w++) to->bytes[w] = strlen(to->argv[w]);
    return argc;
}

round_request *shards_ask_all(shards *set, int argc, const char **argv, bool has_part,
                              unsigned replicas) {
    round_request *const all = calloc(set->n, sizeof *all);
    shard_words *const   words = calloc(set->n, sizeof *words);
    if (all == NULL || words == NULL) die("not enough memory for %u shards", set->n);
    for (unsigned i = 0; i < set->n; i++) {
        all[i].slot = set->all[i].slot;
        all[i].argc = write_words(set, i, argc, argv, has_part, &words[i]);
        all[i].argv = words[i].argv;
        all[i].argv_bytes = words[i].bytes;
    }
    round_run(&set->nodes, all, set->n, replicas);
    free(words);
    return all;
}

void shards_free_all(const shards *set, round_request *all) {
    for (unsigned i = 0; i < set->n; i++) freeReplyObject(all[i].reply);
    free(all);
}

/* ------------------------------------------------------------------ what the set is like */

static void meta_key(const shards *set, char *ret_key, size_t bytes) {
    (void)snprintf(ret_key, bytes, "%s:tamis", set->name);
}

static void take_meta(shards *set, const redisReply *reply) {
    if (reply->type == REDIS_REPLY_ERROR) die("%s: %s", set->name, reply->str);
    if (reply->type != REDIS_REPLY_STRING) return; /* there is no such set */
    if (!meta_read(reply->str, &set->meta))
        die("%s:tamis does not describe a set that this version knows: %s", set->name, reply->str);
    set->n = set->meta.shards;
    tamis_free(set->hasher);
    set->hasher = hasher_make(set->meta.seed, set->meta.hash);
    name_shards(set);
}

static void meta_get(shards *set) {
    char key[SHARD_NAME_BYTES];
    meta_key(set, key, sizeof key);
    const char       *argv[] = { "GET", key };
    redisReply *const reply = shards_ask(set, key, 2, argv, NULL, 0);
    take_meta(set, reply);
    freeReplyObject(reply);
}

/* SET NAME:tamis. With NX, it may be there already; then nothing is changed. */
static void meta_put(shards *set, const set_meta *meta, bool only_first) {
    char key[SHARD_NAME_BYTES], text[META_BYTES];
    meta_key(set, key, sizeof key);
    meta_write(meta, text);
    const char       *argv[] = { "SET", key, text, "NX" };
    redisReply *const reply = shards_ask(set, key, only_first ? 4 : 3, argv, NULL, set->replicas);
    if (reply->type == REDIS_REPLY_ERROR) die("%s: %s", key, reply->str);
    freeReplyObject(reply);
}

/* The reply to SET NX may be lost, and the second one says that the key exists: so what counts is
 * whether the text that is there is ours. */
bool shards_claim(shards *set, const set_meta *wanted) {
    meta_put(set, wanted, true);
    meta_get(set);
    if (set->n == 0) die("%s:tamis was written, but is missing now", set->name);
    return meta_is_same(&set->meta, wanted);
}

void shards_finish(shards *set) {
    set->meta.is_whole = true;
    meta_put(set, &set->meta, false);
}

/* ------------------------------------------------------------------ opening */

static void name_client(shards *set) {
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        die("the system gave no random bytes");
    (void)snprintf(set->client, sizeof set->client, "%016" PRIx64 "%012" PRIx64, random[0],
                   random[1] >> 16);
}

/* From a file or the environment, since every user who can list processes can read a command
 * line. */
static const char *read_password(const options *asked) {
    static char line[1024];
    if (asked->password_file == NULL) return getenv("TAMIS_REDIS_PASSWORD");
    FILE *const file = fopen(asked->password_file, "re");
    if (file == NULL) die("%s: %s", asked->password_file, strerror(errno));
    if (fgets(line, sizeof line, file) == NULL) die("%s: it is empty", asked->password_file);
    (void)fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

static void take_login(shards *set, const options *asked) {
    set->nodes.user = asked->user;
    set->nodes.password = read_password(asked);
    if (asked->user != NULL && set->nodes.password == NULL)
        die("--user %s needs a password: write --password-file FILE, or set TAMIS_REDIS_PASSWORD",
            asked->user);
    if (is_given(asked, OPTION_BIT(TLS)))
        set->nodes.tls = tls_open(asked);
    else if (asked->ca_file != NULL || asked->cert_file != NULL || asked->key_file != NULL ||
             asked->tls_name != NULL)
        die("--cacert, --cert, --key and --tls-name are for --tls");
}

void shards_open(shards *ret_set, const options *asked) {
    *ret_set = (shards){ .name = checked_name(asked), .replicas = asked->replicas };
    if (asked->cluster == NULL) die("no cluster is given; write --cluster HOST:PORT");
    take_login(ret_set, asked);
    cluster_open(&ret_set->nodes, asked->cluster);
    if (ret_set->nodes.is_single && !is_given(asked, OPTION_BIT(WAIT))) ret_set->replicas = 0;
    name_client(ret_set);
    meta_get(ret_set);
    if (ret_set->n != 0 && asked->shards != 0 && asked->shards != ret_set->n)
        die("%s has %u %s, not %u", ret_set->name, ret_set->n,
            plural(ret_set->n, "shard", "shards"), asked->shards);
}

void shards_need(const shards *set) {
    if (set->n == 0) die("there is no set %s; 'tamis redis load' makes one", set->name);
    if (!set->meta.is_whole)
        die("%s is not complete: the %s that makes it was not finished; run it again", set->name,
            set->meta.is_imported ? "import" : "load");
}

void shards_close(shards *set) {
    cluster_close(&set->nodes);
    tamis_free(set->hasher);
    free(set->all);
}
