/* shapes.c - a few empty sets. */
#include "shapes.h"

#include "background.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define N_SHAPES 128

typedef struct shape {
    value_recipe recipe; /* what was asked for */
    tamis_set   *set;    /* NULL: free, or it is being planned */
    bool         is_planned;
    char         geometry[GEOMETRY_BYTES];
} shape;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static shape           shapes[N_SHAPES];
static unsigned        next_shape; /* the oldest one */

/* ------------------------------------------------------------------ memory */

/* Addresses from the system, not from the server: what is never touched does not count as used. */
static void *map_pages(void *context, size_t bytes, size_t alignment) {
    (void)context, (void)alignment; /* pages are aligned to 4 KiB, more than anything needs */
    void *const pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static void unmap_pages(void *context, void *memory, size_t bytes) {
    (void)context;
    (void)munmap(memory, bytes);
}

static void use_pages(tamis_spec *spec) {
    spec->allocator = (tamis_allocator){ map_pages, unmap_pages, NULL };
    spec->allocator_flags = TAMIS_ALLOCATOR_ZEROED;
}

/* ------------------------------------------------------------------ the list */

/* Do the two ask for the same set? Seeds, and what does not concern the set, do not count. The
 * geometry of a set that grows follows from the rest. */
static bool is_same(const value_recipe *a, const value_recipe *b) {
    bool const is_same_geometry = a->grow_to != 0 || strcmp(a->geometry, b->geometry) == 0;
    return a->fpr == b->fpr && a->capacity == b->capacity && a->grow_to == b->grow_to &&
           a->abilities == b->abilities && a->count_to == b->count_to &&
           a->is_small == b->is_small && a->set_parts == b->set_parts && is_same_geometry &&
           strcmp(a->kind, b->kind) == 0;
}

/* With the lock. */
static shape *find(const value_recipe *recipe) {
    for (unsigned i = 0; i < N_SHAPES; i++) {
        shape *const one = &shapes[i];
        if ((one->set != NULL || one->is_planned) && is_same(&one->recipe, recipe)) return one;
    }
    return NULL;
}

/* The place for a new shape: its own if it is being planned, else that of the oldest. */
static shape *place_for(const value_recipe *recipe) {
    shape *one = find(recipe);
    if (one != NULL) return one;
    one = &shapes[next_shape];
    next_shape = (next_shape + 1) % N_SHAPES;
    tamis_free(one->set);
    *one = (shape){ .recipe = *recipe };
    return one;
}

bool shapes_make(const value_recipe *recipe, const tamis_spec *spec, char *ret_geometry,
                 tamis_set **ret_set, tamis_status *ret_status) {
    tamis_spec like = *spec;
    pthread_mutex_lock(&lock);
    const shape *const one = find(recipe);
    bool const         is_known = one != NULL && one->set != NULL;
    if (is_known) {
        like.like = one->set;
        like.reseed = true;
        *ret_status = tamis_create(&like, ret_set, NULL);
        (void)snprintf(ret_geometry, GEOMETRY_BYTES, "%s", one->geometry);
    }
    pthread_mutex_unlock(&lock);
    return is_known;
}

void shapes_keep(const value_recipe *recipe, const tamis_set *set, const char *geometry) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *kept;
    spec.like = set;
    use_pages(&spec);
    if (tamis_create(&spec, &kept, NULL) != TAMIS_OK) return;
    pthread_mutex_lock(&lock);
    shape *const one = place_for(recipe);
    tamis_free(one->set);
    one->set = kept;
    (void)snprintf(one->geometry, sizeof one->geometry, "%s", geometry);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ ahead */

/* It could not be made: another time there may be memory for it. */
static void forget(const value_recipe *recipe) {
    pthread_mutex_lock(&lock);
    shape *const one = find(recipe);
    if (one != NULL) one->is_planned = false;
    pthread_mutex_unlock(&lock);
}

static void plan(void *argument) {
    value_recipe *const recipe = argument;
    char                geometry[GEOMETRY_BYTES];
    tamis_set          *set;
    tamis_spec          spec = value_spec(recipe);
    use_pages(&spec);
    if (tamis_create(&spec, &set, NULL) == TAMIS_OK) {
        value_geometry(set, geometry, sizeof geometry);
        shapes_keep(recipe, set, geometry);
        tamis_free(set);
    } else {
        forget(recipe);
    }
    redis_Free(recipe);
}

void shapes_plan_ahead(const value_recipe *recipe) {
    value_recipe *const copy = redis_TryAlloc(sizeof *copy);
    if (copy == NULL) return;
    *copy = *recipe;
    pthread_mutex_lock(&lock);
    bool const is_known = find(recipe) != NULL;
    if (!is_known) place_for(recipe)->is_planned = true;
    pthread_mutex_unlock(&lock);
    if (is_known)
        redis_Free(copy);
    else
        background_call(plan, copy);
}
