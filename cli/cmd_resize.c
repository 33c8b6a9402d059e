/* cmd_resize.c - tamis resize: give a set that grows another size, without its keys. */
#include "commands.h"

#include "message.h"
#include "numbers.h"
#include "setfile.h"

static uint64_t read_capacity(const char *text) {
    uint64_t capacity = 0;
    if (text == NULL) die("say for how many keys: write the number after the file, as in 10M");
    const char *const complaint = number_read_count(text, &capacity);
    if (complaint != NULL) die("%s: %s", *text != '\0' ? text : "''", complaint);
    if (capacity == 0) die("0: a set has room for 1 key at least");
    return capacity;
}

/* Say why it could not be resized, and what to do. */
static _Noreturn void die_of_size(const tamis_set *set, const char *path, uint64_t capacity,
                                  tamis_status status) {
    tamis_info    info;
    number_text   wanted, most;
    contents_text contents;
    setfile_inspect(set, &info);
    number_exact(capacity, wanted);
    number_exact(info.facts.grow_to, most);
    setfile_name_contents(&info, contents);
    if (status == TAMIS_ERR_CANNOT) {
        die("%s (%s) has a fixed size; build one that grows, without -n or with --grow-to", path,
            info.plan.kind);
    }
    if (status == TAMIS_ERR_LIMIT) {
        die("%s cannot be made for %s keys: it grows to %s at most, or its false-positive rate "
            "would be higher than it was built for; choose a smaller number, or build a set with a "
            "larger --grow-to",
            path, wanted, most);
    }
    if (status == TAMIS_ERR_FULL) {
        die("%s holds %s, and they do not fit at %s; choose a larger number, or remove keys first",
            path, contents, wanted);
    }
    die("%s: %s; the file is unchanged", path, tamis_status_text(status));
}

static int resize_run(const options *asked) {
    const char *const path = asked->operands[0];
    uint64_t const    capacity = read_capacity(asked->n_operands > 1 ? asked->operands[1] : NULL);
    setfile_target    target;
    tamis_set *const  set = setfile_take(path, asked, &target);
    tamis_facts       before;
    tamis_info        info;
    number_text       old, size;
    capacity_text     made_for;
    if (tamis_get_facts(set, &before) != TAMIS_OK) die("there is no set to inspect");
    tamis_status const status = tamis_resize(set, capacity, NULL);
    if (status != TAMIS_OK) die_of_size(set, path, capacity, status);
    setfile_save(set, &target);
    setfile_inspect(set, &info);
    number_size(before.body_bytes, old);
    number_size(info.facts.body_bytes, size);
    setfile_name_capacity(&info.facts, made_for);
    if (!is_given(asked, OPTION_BIT(QUIET)))
        warn("%s: now made for %s; %s, before %s", path, made_for, size, old);
    tamis_free(set);
    return EXIT_DONE;
}

const command command_resize = {
    .name = "resize",
    .operands = "FILE KEYS ",
    .summary = "Make a set that can grow larger or smaller",
    .text = "A set that was built without -n, or with --grow-to, grows by itself as keys are\n"
            "added. This command makes room in advance, before many keys are added; or it makes\n"
            "the set smaller after many removals. The keys are not needed, and all answers stay\n"
            "the same. Possible sizes are the first size times a power of two; the set gets the\n"
            "smallest that has room for KEYS. A set of fixed size cannot be resized.\n",
    .examples = "  tamis resize seen.tamis 10M       room for 10 million keys\n"
                "  tamis resize seen.tamis 1k        as small as 1000 keys allow\n",
    .options = OPTION_BIT(QUIET),
    .min_operands = 1,
    .max_operands = 2,
    .set_operands = 1,
    .run = resize_run,
};
