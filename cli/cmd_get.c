/* cmd_get.c - tamis get: look up the states of keys in a file of states. */
#include "commands.h"

#include "message.h"
#include "output.h"
#include "setfile.h"

static void print_state(tamis_status status, uint32_t value) {
    if (status == TAMIS_OK)
        output_number(value);
    else
        output_string(status == TAMIS_ERR_ABSENT ? "absent" : "don't know");
}

/* Look up and print a batch of lines. Returns how many have a value. */
static size_t get_some(const setfile *file, const tamis_key *keys, size_t n, char separator) {
    tamis_status       statuses[LINES_BATCH];
    uint32_t           values[LINES_BATCH];
    size_t             found = 0;
    tamis_states_batch batch = {
        .keys = keys, .n = n, .ret_statuses = statuses, .ret_values = values
    };
    tamis_status const status = tamis_states_get_batch(file->states, &batch, &found);
    if (status != TAMIS_OK) die("%s: %s", file->path, tamis_status_text(status));
    setfile_check(file);
    for (size_t i = 0; i < n; i++) {
        output_bytes(keys[i].data, keys[i].bytes);
        output_bytes("\t", 1);
        print_state(statuses[i], values[i]);
        output_bytes(&separator, 1);
    }
    return found;
}

static int get_run(const options *asked) {
    setfile   file;
    lines     input;
    tamis_key keys[LINES_BATCH];
    uint64_t  found = 0;
    size_t    n;
    setfile_open_states(asked->operands[0], asked, &file);
    keys_open(&input, asked, 1);
    input.is_answered = true;
    while ((n = lines_next(&input, keys)) != 0) {
        found += get_some(&file, keys, n, asked->separator);
    }
    lines_close(&input);
    setfile_close(&file);
    return found != 0 ? EXIT_DONE : EXIT_NONE;
}

const command command_get = {
    .name = "get",
    .operands = "FILE [KEYS...] ",
    .summary = "Print each line and its value in a file of states",
    .text = "Prints the line, a tab and the value of that key: a number, 'absent' if the key is\n"
            "not in the table, or 'don't know' if the table cannot tell. Lines come from the\n"
            "files KEYS, or from standard input. Files of states are made by programs that use\n"
            "the C library (docs/states.md). Ends with 0 if a line has a value, with 1 if none\n"
            "has, with 2 on an error.\n",
    .examples = "  tamis get jobs.tamis <job-names\n"
                "  echo 10.0.0.7 | tamis get hosts.tamis\n",
    .options = OPTION_BIT(NULL) | OPTION_BIT(TRUST) | OPTION_BIT(READ),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .set_operands = 1,
    .run = get_run,
};
