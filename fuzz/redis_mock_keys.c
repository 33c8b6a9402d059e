/* redis_mock_keys.c - memory, strings, keys and streams of the mock. */
#include "core/le.h"
#include "redis_mock_inside.h"

#include <malloc.h>

#define MAX_KEYS 8
#define MAX_ALLOCATION ((size_t)64 << 20)

typedef struct slot {
    char                   *name; /* NULL: free */
    size_t                  n;
    struct RedisModuleType *type;
    void                   *value;
} slot;

struct RedisModuleKey {
    char   name[300];
    size_t n;
};

static slot keys[MAX_KEYS];

/* ------------------------------------------------------------------ memory and strings */

static void *try_alloc(size_t n) {
    return n > MAX_ALLOCATION ? NULL : malloc(n);
}

static void *defrag_alloc(redis_defrag *defrag, void *memory) {
    size_t const n = malloc_usable_size(memory);
    void *const  moved = malloc(n);
    (void)defrag;
    must(moved != NULL);
    memcpy(moved, memory, n);
    free(memory);
    return moved;
}

redis_string *mock_string(const void *bytes, size_t n) {
    redis_string *const made = malloc(sizeof *made);
    must(made != NULL);
    *made = (redis_string){ malloc(n + 1), n, 1 };
    must(made->bytes != NULL);
    if (n != 0) memcpy(made->bytes, bytes, n);
    made->bytes[n] = '\0';
    return made;
}

static redis_string *create_string(redis_ctx *ctx, const char *text, size_t n) {
    (void)ctx;
    return mock_string(text, n);
}

void mock_string_free(redis_string *one) {
    if (--one->refs != 0) return;
    free(one->bytes);
    free(one);
}

static void free_string(redis_ctx *ctx, redis_string *one) {
    (void)ctx;
    mock_string_free(one);
}

static void retain_string(redis_ctx *ctx, redis_string *one) {
    (void)ctx;
    one->refs++;
}

static const char *string_ptr(const redis_string *one, size_t *ret_n) {
    if (ret_n != NULL) *ret_n = one->n;
    return one->bytes;
}

static int string_to_number(const redis_string *one, long long *ret) {
    char *end;
    *ret = strtoll(one->bytes, &end, 10);
    return one->n != 0 && end == one->bytes + one->n ? REDIS_OK : REDIS_ERR;
}

static int string_to_double(const redis_string *one, double *ret) {
    char *end;
    *ret = strtod(one->bytes, &end);
    return one->n != 0 && end == one->bytes + one->n ? REDIS_OK : REDIS_ERR;
}

/* ------------------------------------------------------------------ keys */

static slot *find_slot(const char *name, size_t n) {
    for (unsigned i = 0; i < MAX_KEYS; i++) {
        if (keys[i].name != NULL && keys[i].n == n && memcmp(keys[i].name, name, n) == 0)
            return &keys[i];
    }
    return NULL;
}

static void drop_slot(slot *one) {
    free(one->name);
    one->type->methods.free(one->value);
    *one = (slot){ NULL, 0, NULL, NULL };
}

static redis_key *open_key(redis_ctx *ctx, redis_string *name, int mode) {
    (void)ctx;
    if (name->n >= sizeof((redis_key *)0)->name) return NULL;
    if ((mode & REDIS_WRITE) == 0 && find_slot(name->bytes, name->n) == NULL) return NULL;
    redis_key *const key = calloc(1, sizeof *key);
    must(key != NULL);
    memcpy(key->name, name->bytes, name->n);
    key->n = name->n;
    return key;
}

static void close_key(redis_key *key) {
    free(key);
}

static slot *slot_of(const redis_key *key) {
    return key != NULL ? find_slot(key->name, key->n) : NULL;
}

static int key_type(redis_key *key) {
    return slot_of(key) != NULL ? 6 : REDIS_KEY_EMPTY;
}

static int delete_key(redis_key *key) {
    if (slot_of(key) != NULL) drop_slot(slot_of(key));
    return REDIS_OK;
}

static int set_value(redis_key *key, redis_type *type, void *value) {
    (void)delete_key(key);
    for (unsigned i = 0; i < MAX_KEYS; i++) {
        if (keys[i].name != NULL) continue;
        keys[i] = (slot){ malloc(key->n + 1), key->n, type, value };
        must(keys[i].name != NULL);
        memcpy(keys[i].name, key->name, key->n);
        return REDIS_OK;
    }
    abort(); /* more keys than the targets use */
}

static redis_type *get_type(redis_key *key) {
    return slot_of(key) != NULL ? slot_of(key)->type : NULL;
}

static void *get_value(redis_key *key) {
    return slot_of(key) != NULL ? slot_of(key)->value : NULL;
}

void mock_drop_keys(void) {
    for (unsigned i = 0; i < MAX_KEYS; i++) {
        if (keys[i].name != NULL) drop_slot(&keys[i]);
    }
}

void *mock_value(const char *key) {
    slot *const found = find_slot(key, strlen(key));
    return found != NULL ? found->value : NULL;
}

void mock_move(const char *key) {
    slot *const found = find_slot(key, strlen(key));
    must(found != NULL);
    (void)found->type->methods.defrag(NULL, NULL, &found->value);
}

void mock_set(const char *key, unsigned family, void *value) {
    redis_key name = { .n = strlen(key) };
    memcpy(name.name, key, name.n);
    (void)set_value(&name, &mock_server.types[family - 1], value);
}

/* ------------------------------------------------------------------ streams */

/* Numbers are little-endian, as the inputs of the targets have them. */
static uint64_t load_unsigned(redis_io *io) {
    if (io->from->n - io->from->at < 8) {
        io->from->is_broken = true;
        return 0;
    }
    io->from->at += 8;
    return le64_load(io->from->bytes + io->from->at - 8);
}

static char *load_string(redis_io *io, size_t *ret_n) {
    uint64_t const n = load_unsigned(io);
    if (io->from->is_broken || n > io->from->n - io->from->at) {
        io->from->is_broken = true;
        return NULL;
    }
    char *const bytes = malloc((size_t)n + 1);
    must(bytes != NULL);
    memcpy(bytes, io->from->bytes + io->from->at, (size_t)n);
    io->from->at += (size_t)n;
    *ret_n = (size_t)n;
    return bytes;
}

static int is_io_error(redis_io *io) {
    return io->from != NULL && io->from->is_broken;
}

static void save_bytes(redis_io *io, const void *bytes, size_t n) {
    must(n <= io->room - io->n);
    memcpy(io->to + io->n, bytes, n);
    io->n += n;
}

static void save_unsigned(redis_io *io, uint64_t number) {
    uint8_t bytes[8];
    le64_store(bytes, number);
    save_bytes(io, bytes, sizeof bytes);
}

static void save_string(redis_io *io, const char *bytes, size_t n) {
    save_unsigned(io, n);
    save_bytes(io, bytes, n);
}

static size_t usable(void *memory) {
    return malloc_usable_size(memory);
}

const mock_function mock_functions_of_keys[] = {
    MOCK_FUNCTION(TryAlloc, try_alloc),
    MOCK_FUNCTION(Free, free),
    MOCK_FUNCTION(MallocSize, usable),
    MOCK_FUNCTION(DefragAlloc, defrag_alloc),
    MOCK_FUNCTION(ModuleTypeSetValue, set_value),
    MOCK_FUNCTION(ModuleTypeGetType, get_type),
    MOCK_FUNCTION(ModuleTypeGetValue, get_value),
    MOCK_FUNCTION(OpenKey, open_key),
    MOCK_FUNCTION(CloseKey, close_key),
    MOCK_FUNCTION(KeyType, key_type),
    MOCK_FUNCTION(DeleteKey, delete_key),
    MOCK_FUNCTION(StringPtrLen, string_ptr),
    MOCK_FUNCTION(StringToLongLong, string_to_number),
    MOCK_FUNCTION(StringToDouble, string_to_double),
    MOCK_FUNCTION(CreateString, create_string),
    MOCK_FUNCTION(FreeString, free_string),
    MOCK_FUNCTION(RetainString, retain_string),
    MOCK_FUNCTION(SaveUnsigned, save_unsigned),
    MOCK_FUNCTION(LoadUnsigned, load_unsigned),
    MOCK_FUNCTION(SaveStringBuffer, save_string),
    MOCK_FUNCTION(LoadStringBuffer, load_string),
    MOCK_FUNCTION(IsIOError, is_io_error),
    { NULL, NULL },
};
