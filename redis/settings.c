/* settings.c - read the module's arguments. */
#include "settings.h"

#include "words.h"

#include <stdio.h>

tamis_settings settings = {
    .bf_error = 0.01,
    .bf_capacity = 100,
    .bf_expansion = 2,
    .cf_error = 0.01,
    .cf_capacity = 1024,
    .cf_bucket_size = 2,
    .cf_max_iterations = 20,
    .cf_expansion = 1,
    .cf_max_expansions = 32,
    .cf_count_to = 15,
    .headroom = 4,
    .max_key_bytes = (long long)4 << 30,
    .stage_seconds = 60,
};

/* An argument is a whole number or a rate. Some have a second name, which other modules use. */
typedef struct setting_row {
    const char *name, *alias;
    long long  *number;
    double     *rate;
    long long   least, most;
} setting_row;

static const setting_row arguments[] = {
    { "bf-error-rate", "ERROR_RATE", NULL, &settings.bf_error, 0, 0 },
    { "bf-initial-size", "INITIAL_SIZE", &settings.bf_capacity, NULL, 1, 1 << 30 },
    { "bf-expansion-factor", NULL, &settings.bf_expansion, NULL, 0, 32768 },
    { "cf-error-rate", NULL, NULL, &settings.cf_error, 0, 0 },
    { "cf-initial-size", NULL, &settings.cf_capacity, NULL, 4, 1 << 30 },
    { "cf-bucket-size", NULL, &settings.cf_bucket_size, NULL, 1, 255 },
    { "cf-max-iterations", NULL, &settings.cf_max_iterations, NULL, 1, 65535 },
    { "cf-expansion-factor", NULL, &settings.cf_expansion, NULL, 0, 32768 },
    { "cf-max-expansions", "CF_MAX_EXPANSIONS", &settings.cf_max_expansions, NULL, 1, 65536 },
    { "cf-count-to", NULL, &settings.cf_count_to, NULL, 1, 65535 },
    { "headroom", NULL, &settings.headroom, NULL, 1, 20 },
    { "max-key-bytes", NULL, &settings.max_key_bytes, NULL, 0, INT64_MAX },
    { "fixed-seed", NULL, &settings.fixed_seed, NULL, 0, INT64_MAX },
    { "stage-seconds", NULL, &settings.stage_seconds, NULL, 1, 86400 },
};

static const setting_row *argument_of(const redis_string *word) {
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        const setting_row *const one = &arguments[i];
        if (word_is(word, one->name) || (one->alias != NULL && word_is(word, one->alias)))
            return one;
    }
    return NULL;
}

/* What is wrong with a rate, as a format for its name; NULL: nothing. */
static const char *rate_problem(const redis_string *text, double *ret_rate) {
    if (redis_StringToDouble(text, ret_rate) != REDIS_OK) return "Invalid value for `%s`";
    return *ret_rate > 0.0 && *ret_rate < 1.0
               ? NULL
               : "Value for `%s` must be in the range (0.000000, 1.000000)";
}

static bool argument_take(redis_ctx *ctx, const setting_row *one, const redis_string *text) {
    long long number;
    double    rate;
    if (one->rate != NULL) {
        const char *const problem = rate_problem(text, &rate);
        if (problem == NULL)
            *one->rate = rate > 0.25 ? 0.25 : rate;
        else
            redis_Log(ctx, "warning", problem, one->name);
        return problem == NULL;
    }
    if (redis_StringToLongLong(text, &number) != REDIS_OK) {
        redis_Log(ctx, "warning", "Invalid value for `%s`", one->name);
        return false;
    }
    if (number < one->least || number > one->most) {
        redis_Log(ctx, "warning", "Value for `%s` must be in the range [%lld, %lld]", one->name,
                  one->least, one->most);
        return false;
    }
    *one->number = number;
    return true;
}

bool settings_read(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc % 2 != 0) {
        redis_Log(ctx, "warning", "Invalid number of arguments passed");
        return false;
    }
    for (int i = 0; i < argc; i += 2) {
        const setting_row *const one = argument_of(argv[i]);
        if (one == NULL) {
            redis_Log(ctx, "warning", "Unrecognized option %s", redis_StringPtrLen(argv[i], NULL));
            return false;
        }
        if (!argument_take(ctx, one, argv[i + 1])) return false;
    }
    if (settings.cf_capacity < 2 * settings.cf_bucket_size) {
        redis_Log(ctx, "warning", "cf-initial-size must be at least 2 x cf-bucket-size");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ CONFIG */

static int refuse(redis_string **reterr, const char *text) {
    *reterr = redis_CreateString(NULL, text, strlen(text));
    return REDIS_ERR;
}

/* The two sizes limit each other. */
static int refuse_pair(redis_string **reterr, bool is_bucket_size) {
    long long const half = settings.cf_capacity / 2;
    long long const least = is_bucket_size ? 1 : 2 * settings.cf_bucket_size;
    long long const most = is_bucket_size ? (half < 255 ? half : 255) : 1 << 30;
    char            text[96];
    (void)snprintf(text, sizeof text, "Value for `%s` must be in the range [%lld, %lld]",
                   is_bucket_size ? "cf-bucket-size" : "cf-initial-size", least, most);
    return refuse(reterr, text);
}

static long long get_number(const char *name, void *data) {
    (void)name;
    return *(long long *)data;
}

/* The server has checked the range. */
static int set_number(const char *name, long long number, void *data, redis_string **reterr) {
    long long *const setting = data;
    long long const  before = *setting;
    (void)name;
    *setting = number;
    if (settings.cf_capacity >= 2 * settings.cf_bucket_size) return REDIS_OK;
    *setting = before;
    return refuse_pair(reterr, setting == &settings.cf_bucket_size);
}

/* The server copies the text at once, and leaves the string to us. */
static redis_string *get_rate(const char *name, void *data) {
    static redis_string *shown;
    char                 text[32];
    (void)name;
    int const n = snprintf(text, sizeof text, "%g", *(double *)data);
    if (shown != NULL) redis_FreeString(NULL, shown);
    shown = redis_CreateString(NULL, text, (size_t)n);
    return shown;
}

static int set_rate(const char *name, redis_string *text, void *data, redis_string **reterr) {
    double            rate;
    char              said[96];
    const char *const dot = strrchr(name, '.'); /* behind the name of the module */
    const char *const problem = rate_problem(text, &rate);
    if (problem != NULL) {
        (void)snprintf(said, sizeof said, problem, dot != NULL ? dot + 1 : name);
        return refuse(reterr, said);
    }
    *(double *)data = rate > 0.25 ? 0.25 : rate;
    return REDIS_OK;
}

/* From Redis 8 on, the names that clients know from elsewhere have no prefix. */
static unsigned flags_of(const setting_row *one) {
    bool const is_8 = !redis_is_valkey && redis_GetServerVersion != NULL &&
                      redis_GetServerVersion() >= 0x00080000;
    bool const is_shared = strncmp(one->name, "bf-", 3) == 0 || strncmp(one->name, "cf-", 3) == 0;
    return is_8 && is_shared ? REDIS_CONFIG_UNPREFIXED : 0;
}

static int register_one(redis_ctx *ctx, const setting_row *one) {
    unsigned const flags = flags_of(one);
    char           text[32];
    if (one->number != NULL)
        return redis_RegisterNumericConfig(ctx, one->name, *one->number, flags, one->least,
                                           one->most, get_number, set_number, NULL, one->number);
    (void)snprintf(text, sizeof text, "%g", *one->rate);
    return redis_RegisterStringConfig(ctx, one->name, text, flags, get_rate, set_rate, NULL,
                                      one->rate);
}

bool settings_register(redis_ctx *ctx) {
    if (redis_RegisterNumericConfig == NULL || redis_RegisterStringConfig == NULL ||
        redis_LoadConfigs == NULL)
        return true;
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        if (register_one(ctx, &arguments[i]) == REDIS_OK) continue;
        redis_Log(ctx, "warning", "tamis: the server refused the setting %s", arguments[i].name);
        return false;
    }
    return redis_LoadConfigs(ctx) == REDIS_OK;
}
