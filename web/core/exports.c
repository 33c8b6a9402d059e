/* exports.c - the functions that JavaScript calls: those of tamis.h, with argument types of
 * WebAssembly.
 *
 * JavaScript passes 32-bit integers and doubles, and reads memory. So a spec is filled in number by
 * number, a plan is read number by number, and keys and files are in memory that JavaScript has
 * allocated. The meanings of `which` are in core.js in the same order. A module has one thread, so
 * data that one call leaves for the next may be static.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <tamis/tamis.h>

#define WEB_EXPORT(name) __attribute__((export_name(#name)))
#define WEB_IMPORT(name) __attribute__((import_module("env"), import_name(#name)))
#define WEB_MAX_ROWS 40 /* kinds, or the stages of a set that grows */

static tamis_spec    spec;
static tamis_seed    seed;
static tamis_problem problem;
static tamis_plan    rows[WEB_MAX_ROWS];
static size_t        n_rows;
static tamis_info    info;

/* The random seed of a set. In a browser this replaces the system function of that name. */
WEB_IMPORT(random) void web_random(void *ret_bytes, size_t n);

ssize_t getrandom(void *ret_bytes, size_t n, unsigned flags);
ssize_t getrandom(void *ret_bytes, size_t n, unsigned flags) {
    (void)flags;
    web_random(ret_bytes, n);
    return (ssize_t)n;
}

WEB_EXPORT(get) void *web_get(size_t bytes) {
    return malloc(bytes);
}

WEB_EXPORT(drop) void web_drop(void *memory) {
    free(memory);
}

WEB_EXPORT(version) const char *web_version(void) {
    return tamis_version();
}

WEB_EXPORT(statusText) const char *web_status_text(int status) {
    return tamis_status_text((tamis_status)status);
}

/* The problem of the last call that failed. */
WEB_EXPORT(problemText) const char *web_problem_text(void) {
    return problem.text;
}

/* Bodies come from malloc. The library's own allocator maps pages and gives back the ends that it
 * does not need, which emscripten's munmap() cannot do: that memory would be lost. */

static void *web_alloc(void *context, size_t bytes, size_t alignment) {
    (void)context;
    void        *memory;
    size_t const least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    return posix_memalign(&memory, least, bytes) == 0 ? memory : NULL;
}

static void web_dealloc(void *context, void *memory, size_t bytes) {
    (void)context;
    (void)bytes;
    free(memory);
}

static const tamis_allocator allocator = { web_alloc, web_dealloc, NULL };

/* ------------------------------------------------------------------ a spec */

WEB_EXPORT(specBegin) void web_spec_begin(void) {
    spec = (tamis_spec)TAMIS_SPEC_INIT;
    spec.allocator = allocator;
}

WEB_EXPORT(specNumber) void web_spec_number(int which, double value) {
    switch (which) {
    case 0: spec.capacity = (uint64_t)value; break;
    case 1: spec.fpr = value; break;
    case 2: spec.abilities = (unsigned)value; break;
    case 3: spec.copies = (uint64_t)value; break;
    case 4: spec.count_to = (uint64_t)value; break;
    case 5: spec.memory = (uint64_t)value; break;
    case 6: spec.prefer = (tamis_preference)value; break;
    case 7: spec.lifetime = (uint64_t)value; break;
    case 8: spec.overflow = value; break;
    default: spec.grow_to = (uint64_t)value; break;
    }
}

/* Both must stay in memory until the spec is used. */
WEB_EXPORT(specTexts) void web_spec_texts(const char *kind, const char *geometry) {
    spec.kind = kind;
    spec.geometry = geometry;
}

WEB_EXPORT(specSeed)
void web_spec_seed(uint32_t low, uint32_t low_top, uint32_t high, uint32_t high_top) {
    seed = (tamis_seed){ (uint64_t)low_top << 32 | low, (uint64_t)high_top << 32 | high };
    spec.seed = &seed;
}

/* ------------------------------------------------------------------ plans */

/* 0, or a status. With is_stages, the rows are the stages of a set that grows. */
WEB_EXPORT(plan) int web_plan(int is_stages) {
    problem.text[0] = '\0';
    int const status = is_stages ? tamis_plan_stages(&spec, rows, WEB_MAX_ROWS, &n_rows, &problem)
                                 : tamis_plan_kinds(&spec, rows, WEB_MAX_ROWS, &n_rows, &problem);
    if (n_rows > WEB_MAX_ROWS) n_rows = WEB_MAX_ROWS;
    return status;
}

WEB_EXPORT(planRows) int web_plan_rows(void) {
    return (int)n_rows;
}

/* The plan of a row; after web_inspect(), -1 is that of the set. */
static const tamis_plan *plan_at(int row) {
    return row < 0 ? &info.plan : &rows[row];
}

WEB_EXPORT(planText) const char *web_plan_text(int row, int which) {
    return which == 0 ? plan_at(row)->kind : plan_at(row)->summary;
}

WEB_EXPORT(planNumber) double web_plan_number(int row, int which) {
    const tamis_plan *const plan = plan_at(row);
    double const            numbers[] = {
                   plan->status,
                   plan->chosen,
                   plan->copies_take_room,
                   plan->abilities,
                   (double)plan->capacity,
                   (double)plan->lifetime,
                   (double)plan->body_bytes,
                   (double)plan->file_bytes,
                   plan->bits_per_key,
                   plan->fpr,
                   plan->overflow,
                   plan->saturation,
                   plan->lines_present,
                   plan->lines_absent,
                   plan->lines_add,
                   (double)plan->copies,
                   (double)plan->count_to,
                   (double)plan->peak_bytes,
    };
    return numbers[which];
}

WEB_EXPORT(planFields) int web_plan_fields(int row) {
    return (int)plan_at(row)->n_fields;
}

WEB_EXPORT(planFieldName) const char *web_plan_field_name(int row, int i) {
    return plan_at(row)->fields[i].name;
}

WEB_EXPORT(planFieldValue) double web_plan_field_value(int row, int i) {
    return (double)plan_at(row)->fields[i].value;
}

/* ------------------------------------------------------------------ sets */

static int last_status;

/* The status of the call that returned no set. */
WEB_EXPORT(lastStatus) int web_last_status(void) {
    return last_status;
}

WEB_EXPORT(create) tamis_set *web_create(void) {
    tamis_set *set = NULL;
    problem.text[0] = '\0';
    last_status = tamis_create(&spec, &set, &problem);
    return last_status == TAMIS_OK ? set : NULL;
}

WEB_EXPORT(open) tamis_set *web_open(const void *bytes, size_t n) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL;
    problem.text[0] = '\0';
    options.allocator = allocator;
    last_status = tamis_read(bytes, n, &options, &set, &problem);
    return last_status == TAMIS_OK ? set : NULL;
}

WEB_EXPORT(free) void web_free(tamis_set *set) {
    tamis_free(set);
}

WEB_EXPORT(clear) int web_clear(tamis_set *set) {
    return tamis_clear(set);
}

WEB_EXPORT(merge) int web_merge(tamis_set *into, const tamis_set *from) {
    return tamis_merge(into, from);
}

WEB_EXPORT(add) int web_add(tamis_set *set, const void *key, size_t bytes) {
    return tamis_add(set, key, bytes);
}

WEB_EXPORT(has) int web_has(const tamis_set *set, const void *key, size_t bytes) {
    return tamis_has(set, key, bytes);
}

WEB_EXPORT(remove) int web_remove(tamis_set *set, const void *key, size_t bytes) {
    return tamis_remove(set, key, bytes);
}

/* A count; -1 for TAMIS_COUNT_MANY; or, below that, a status minus 1. */
static double count_result(tamis_status status, uint64_t count) {
    if (status != TAMIS_OK) return (double)status - 1;
    return count == TAMIS_COUNT_MANY ? -1 : (double)count;
}

WEB_EXPORT(count) double web_count(const tamis_set *set, const void *key, size_t bytes) {
    uint64_t           count = 0;
    tamis_status const status = tamis_count(set, key, bytes, &count);
    return count_result(status, count);
}

static uint64_t join_id(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}

WEB_EXPORT(addId) int web_add_id(tamis_set *set, uint32_t low, uint32_t high) {
    return tamis_add_id(set, join_id(low, high));
}

WEB_EXPORT(hasId) int web_has_id(const tamis_set *set, uint32_t low, uint32_t high) {
    return tamis_has_id(set, join_id(low, high));
}

WEB_EXPORT(removeId) int web_remove_id(tamis_set *set, uint32_t low, uint32_t high) {
    return tamis_remove_id(set, join_id(low, high));
}

WEB_EXPORT(countId) double web_count_id(const tamis_set *set, uint32_t low, uint32_t high) {
    uint64_t           count = 0;
    tamis_status const status = tamis_count_id(set, join_id(low, high), &count);
    return count_result(status, count);
}

/* For how many of the ids first, first + 1, ..., first + n - 1 the set says yes. It measures the
 * rate with one call. */
WEB_EXPORT(hasRange) double web_has_range(const tamis_set *set, double first, double n) {
    uint64_t const from = (uint64_t)first, end = from + (uint64_t)n;
    double         found = 0;
    for (uint64_t id = from; id < end; id++) found += tamis_has_id(set, id);
    return found;
}

/* ------------------------------------------------------------------ looking at a set */

WEB_EXPORT(inspect) int web_inspect(const tamis_set *set) {
    return tamis_inspect(set, &info);
}

WEB_EXPORT(infoNumber) double web_info_number(int which) {
    const tamis_facts *const facts = &info.facts;
    double const             numbers[] = {
                    facts->abilities,
                    (double)facts->keys,
                    (double)facts->saturated,
                    (double)facts->refused_adds,
                    (double)facts->refused_removes,
                    (double)facts->body_bytes,
                    (double)facts->grow_to,
                    facts->stage,
                    facts->stages,
                    info.current_fpr,
                    info.distinct,
                    info.load,
                    (double)facts->capacity,
                    (double)facts->count_to,
    };
    return numbers[which];
}

/* ------------------------------------------------------------------ files */

typedef struct file_sink {
    uint8_t *bytes;
    size_t   used, room;
    bool     lacks_memory; /* the library only sees that the sink has failed */
} file_sink;

static file_sink saved;

static bool save_more(void *context, const void *bytes, size_t n) {
    file_sink *const sink = context;
    if (n > sink->room - sink->used) {
        size_t const   room = 2 * sink->room + n;
        uint8_t *const larger = realloc(sink->bytes, room);
        sink->lacks_memory = larger == NULL;
        if (larger == NULL) return false;
        sink->bytes = larger;
        sink->room = room;
    }
    memcpy(sink->bytes + sink->used, bytes, n);
    sink->used += n;
    return true;
}

/* The bytes of the file of a set; they stay until saveEnd(). NULL: there is no memory for them. */
WEB_EXPORT(saveBegin) const uint8_t *web_save_begin(const tamis_set *set) {
    saved = (file_sink){ .bytes = NULL };
    last_status = tamis_write(set, save_more, &saved);
    if (saved.lacks_memory) last_status = TAMIS_ERR_MEMORY;
    return last_status == TAMIS_OK ? saved.bytes : NULL;
}

WEB_EXPORT(saveBytes) size_t web_save_bytes(void) {
    return saved.used;
}

WEB_EXPORT(saveEnd) void web_save_end(void) {
    free(saved.bytes);
    saved = (file_sink){ .bytes = NULL };
}
