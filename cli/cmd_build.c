/* cmd_build.c - tamis build: make a set of lines and save it.
 *
 * Without a number of keys (-n), the set grows, while it is built and later. Lines from a pipe are
 * read once: nobody knows how many will come, so the set begins small. Lines of files are read
 * twice. The first time they are counted: how many, how many different ones, and how often the same
 * line comes. The set is planned for that, so that it has the right size for its own input, and
 * room to grow later.
 *
 * With -n auto, lines are counted as well, and the set has a fixed size: the smallest for them. If
 * it gets full all the same, because the sample of lines did not show what the others are like, a
 * larger one is made and filled again. So it is, too, if the kind or the options do not allow a set
 * that grows.
 */
#include "commands.h"

#include <stdio.h>

#include "adding.h"
#include "growth.h"
#include "message.h"
#include "sample.h"
#include "setfile.h"
#include "signals.h"

#define MAX_COPIES_REMOVE 15 /* copies that -n auto makes room for; keys with more get saturated */
#define MAX_COPIES_COUNT 255

/* ------------------------------------------------------------------ what the lines are like */

/* The same lines always give the same plan. */
static const tamis_seed sample_seed = { UINT64_C(0x9e3779b97f4a7c15),
                                        UINT64_C(0x2545f4914f6cdd1d) };

typedef struct sampling {
    tamis_set   *hasher;
    key_sample  *sample;
    const lines *input;
} sampling;

static void hash_block(job *block, void *context) {
    job_hash(block, ((const sampling *)context)->hasher);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool sample_block(job *block, void *context) {
    const sampling *const now = context;
    for (size_t i = 0; i < block->lines; i++) sample_add(now->sample, block->hashes[i], 1);
    return true;
}

/* The same for lines of keys and numbers. */
static void sample_counted(job *block, void *context) {
    const sampling *const now = context;
    tamis_key             keys[LINES_BATCH];
    size_t                n;
    while ((n = job_cut(block, keys)) != 0) {
        uint64_t const before = now->input->keys + block->lines - n;
        for (size_t i = 0; i < n; i++) {
            uint64_t const copies = counted_split(&keys[i], before + i + 1);
            uint64_t const hash = tamis_hash_key(now->hasher, keys[i].data, keys[i].bytes);
            sample_add(now->sample, hash, least(copies, UINT32_MAX)); /* "many" is UINT64_MAX */
        }
    }
}

static void sample_lines(lines *input, const options *asked, key_sample *ret_sample) {
    sampling now = { hasher_make(sample_seed, TAMIS_HASH_DEFAULT), ret_sample, input };
    sample_begin(ret_sample);
    if (is_given(asked, OPTION_BIT(COUNTS)))
        (void)crew_run(&(crew_task){ sample_counted, NULL, &now }, input, 0);
    else
        (void)crew_run(&(crew_task){ hash_block, sample_block, &now }, input,
                       crew_with_main(asked->threads));
    tamis_free(now.hasher);
}

/* The plan of the kind that is chosen. False: there is none. */
static bool find_plan(const tamis_spec *spec, tamis_plan *ret_plan) {
    tamis_plan rows[64];
    size_t     n;
    if (tamis_plan_kinds(spec, rows, 64, &n, NULL) != TAMIS_OK) return false;
    for (size_t i = 0; i < n && i < 64; i++) {
        if (!rows[i].chosen) continue;
        *ret_plan = rows[i];
        return true;
    }
    return false;
}

/* Does a line that comes again take up something in the set? It does if the set can remove or
 * count. Some kinds always can, even if nobody asks for it. */
static bool is_multiset(const tamis_spec *spec) {
    unsigned const multiset = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    tamis_plan     plan;
    if ((spec->abilities & multiset) != 0) return true;
    return find_plan(spec, &plan) && (plan.abilities & multiset) != 0;
}

typedef enum planned { PLAN_NONE, PLAN_OF_KEYS, PLAN_OF_COPIES } planned;

/* Is there a kind for it, and do copies use up capacity in the one that is chosen? */
static planned try_plan(const tamis_spec *spec) {
    tamis_plan plan;
    if (!find_plan(spec, &plan)) return PLAN_NONE;
    return plan.copies_take_room ? PLAN_OF_COPIES : PLAN_OF_KEYS;
}

/* The copies of a key that there is room for, at most. */
static uint64_t copies_limit(const tamis_spec *spec) {
    if ((spec->abilities & TAMIS_CAN_COUNT) == 0) return MAX_COPIES_REMOVE;
    return spec->count_to != 0 ? spec->count_to : MAX_COPIES_COUNT;
}

/* Room for the copies that the sample shows, as far as a kind has it. Keys with more are saturated:
 * they fit, but cannot be removed any more. */
static void choose_copies(tamis_spec *spec, const key_sample *sample) {
    spec->copies = least(sample_most_copies(sample), copies_limit(spec));
    while (spec->copies > 1 && try_plan(spec) != PLAN_OF_KEYS) spec->copies /= 2;
}

/* Where every copy takes as much room as another key, the capacity must count all copies. A key
 * that is flooded counts up to the limit only: beyond it, its counters are saturated. */
static void make_room_for_copies(tamis_spec *spec, const key_sample *sample) {
    uint64_t const copies = sample_copies(sample, copies_limit(spec));
    if (copies > spec->capacity && try_plan(spec) == PLAN_OF_COPIES) spec->capacity = copies;
}

/* Plan for the lines: this many different ones, each with up to this many copies. */
static void spec_for_lines(lines *input, const options *asked, tamis_spec *spec) {
    key_sample sample;
    lines_keep(input);
    sample_lines(input, asked, &sample);
    uint64_t const distinct = least(sample_distinct(&sample), input->keys);
    spec->capacity = distinct != 0 ? distinct : 1;
    if (is_multiset(spec)) {
        if (spec->copies == 0) choose_copies(spec, &sample);
        make_room_for_copies(spec, &sample);
    }
    sample_end(&sample);
    lines_rewind(input);
}

/* ------------------------------------------------------------------ building */

/* The kind is chosen as for one thread, so that the file is the same with any number of them. If
 * that kind is good at being shared, the set is made once more; an empty one costs next to nothing.
 */
static set_in_work make_set(const options *asked, tamis_spec *spec) {
    setfile     like = { .descriptor = -1 };
    tamis_facts facts;
    if (asked->like != NULL) setfile_open_set(asked->like, asked, &like);
    spec->like = like.set;
    spec->shared = false;
    tamis_set *set = set_create(spec);
    if (tamis_get_facts(set, &facts) != TAMIS_OK) die("there is no set to inspect");
    if (is_shared_well(facts.kind, asked->threads)) {
        tamis_free(set);
        spec->shared = true;
        set = set_create(spec);
    }
    spec->like = NULL;
    setfile_close(&like);
    return (set_in_work){ set, spec->shared };
}

/* Room for more: first for copies, if none were expected, then for different keys. */
static void spec_grow(tamis_spec *spec) {
    if (is_multiset(spec) && spec->copies <= 1)
        spec->copies = 2;
    else
        spec->capacity += spec->capacity / 4 + 1;
    if (spec->grow_to != 0 && spec->grow_to < spec->capacity) spec->grow_to = spec->capacity;
}

/* How the number of keys is found. */
typedef enum sizing {
    SIZE_GIVEN,   /* by -n, --like, or --memory with -e */
    SIZE_COUNTED, /* the lines are counted first */
    SIZE_GROWING  /* the set begins small, and grows as lines come */
} sizing;

/* May the set grow? If --grow-to is given it must, and the library says why it cannot. */
static bool may_grow(const options *asked) {
    return !asked->is_counted && !is_given(asked, OPTION_BIT(MEMORY) | OPTION_BIT(GEOMETRY));
}

static sizing choose_size(const options *asked, lines *input, tamis_spec *spec) {
    if (asked->like != NULL) return SIZE_GIVEN;
    if (!asked->is_counted && is_given(asked, OPTION_BIT(CAPACITY))) return SIZE_GIVEN;
    bool const is_file = lines_total_bytes(input) != 0;
    if (may_grow(asked) && !is_file && growth_without_count(spec)) return SIZE_GROWING;
    spec_for_lines(input, asked, spec);
    if (may_grow(asked) || spec->grow_to != 0) growth_from_count(spec);
    return SIZE_COUNTED;
}

/* Make a set and fill it. If the lines were counted they fit, if need be after another try. */
static tamis_set *build_set(const options *asked, lines *input, uint64_t *ret_copies) {
    const char *const path = asked->operands[0];
    tamis_spec        spec = asked->spec;
    if (is_given(asked, OPTION_BIT(MEMORY)) && !is_given(asked, OPTION_BIT(FPR))) {
        spec.fpr = 0; /* the lowest that fits */
    }
    sizing const size = choose_size(asked, input, &spec);
    for (;;) {
        set_in_work const to = make_set(asked, &spec);
        if (add_lines(to, path, input, asked, ret_copies) == TAMIS_OK) {
            growth_settle(to.set);
            return to.set;
        }
        if (size != SIZE_COUNTED) die_of_full(to.set, path, input->keys);
        tamis_free(to.set);
        spec_grow(&spec);
        lines_rewind(input);
    }
}

#define COUNT_TO_DEFAULT 255 /* of a spec that says nothing (tamis.h) */

/* ", counts to 63": a kind that the user names need not count as far as the default. */
static void name_lower_count(const tamis_plan *plan, const tamis_spec *spec, char *ret_text,
                             size_t n) {
    bool const is_default = (spec->abilities & TAMIS_CAN_COUNT) != 0 && spec->count_to == 0;
    ret_text[0] = '\0';
    if (!is_default || plan->count_to >= COUNT_TO_DEFAULT) return;
    (void)snprintf(ret_text, n, ", counts to %llu", (unsigned long long)plan->count_to);
}

/* Is the rate below -e, or below 0.1% without it? A table of few keys cannot have as few places as
 * that needs, so its planned rate is far lower, and may be exceeded. */
static bool is_rate_kept(const tamis_info *info, const options *asked) {
    return asked->like == NULL && info->current_fpr <= asked->spec.fpr;
}

/* "words.tamis: 100 lines read, all new; 183 KiB (bloom, made for 100 keys), false-positive rate
 * ...". Returns whether the set is overloaded. */
static bool tell_build(const tamis_set *set, const char *path, uint64_t n_lines, uint64_t n_copies,
                       const options *asked) {
    tamis_info   info;
    added_text   change;
    setfile_text description;
    char         counts[40];
    setfile_inspect(set, &info);
    name_added(&info, n_lines, n_copies, info.facts.keys, change);
    setfile_describe(&info, description);
    name_lower_count(&info.plan, &asked->spec, counts, sizeof counts);
    if (!is_given(asked, OPTION_BIT(QUIET)))
        warn("%s: %s; %s%s", path, change, description, counts);
    return !is_rate_kept(&info, asked) && setfile_warn_of_overload(&info, path);
}

static int build_run(const options *asked) {
    const char *const path = asked->operands[0];
    setfile_target    target;
    lines             input;
    uint64_t          copies;
    setfile_aim(path, asked, &target);
    keys_open(&input, asked, 1);
    if (!is_given(asked, OPTION_BIT(DISCARD))) signals_end_input();
    tamis_set *const set = build_set(asked, &input, &copies);
    setfile_save(set, &target);
    bool const is_overloaded = tell_build(set, path, input.keys, copies, asked);
    lines_close(&input);
    tamis_free(set);
    return is_overloaded ? EXIT_NONE : EXIT_DONE;
}

const command command_build = {
    .name = "build",
    .operands = "FILE [KEYS...] ",
    .summary = "Make a set of keys and save it to FILE",
    .text =
        "Keys are the lines of the files KEYS, or of standard input; an empty line is a key,\n"
        "too. Without -n the set grows as keys are added, now and later. If KEYS are files, it\n"
        "is made for the number of their lines and can grow 16-fold, or to a million keys. Lines\n"
        "from a pipe cannot be counted in advance, so it starts with room for 1k keys and can\n"
        "grow to 1G. --grow-to sets another limit. If you know the number of different keys, -n\n"
        "makes a set of fixed size, which is smaller; '-n auto' counts them. There is room for\n"
        "--copies copies of each key, and for any number of copies of a single key. 'tamis plan'\n"
        "shows what the options cost. If FILE is a set, it is replaced when the new one is\n"
        "complete; another file is replaced only with --force. On SIGINT (Ctrl-C), SIGTERM or\n"
        "SIGHUP, a set of the lines read so far is saved; a second signal ends at once, without\n"
        "saving. Ends with 1 if the set was saved, but has so many keys that its\n"
        "false-positive rate is higher than -e.\n",
    .examples =
        "  tamis build words.tamis </usr/share/dict/words\n"
        "  tamis build seen.tamis -e 1e-6 --remove </dev/null            empty, for later\n"
        "  tamis build words.tamis -n auto words                         as small as possible\n"
        "  tamis build tuesday.tamis --like monday.tamis tuesday.txt     to be merged\n",
    .options = OPTIONS_OF_SPEC | OPTIONS_OF_HASHING | OPTION_BIT(MEMORY) | OPTION_BIT(LIKE) |
               OPTION_BIT(NULL) | OPTION_BIT(COUNTS) | OPTION_BIT(THREADS) | OPTION_BIT(FORCE) |
               OPTION_BIT(DISCARD) | OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = build_run,
};
