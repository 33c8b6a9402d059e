/* fuzz_arguments.c - the input is a command line of tamis(1), one word per line.
 *
 * The first byte chooses the command. Its words are parsed, and the text of a geometry is checked,
 * too. If a word is refused, the program would call exit(): the linker option --wrap replaces it,
 * so that control returns here. No command is run; other targets and tests/cli do that.
 */
#include "commands.h"
#include "fuzz.h"
#include "geometry.h"

#include <getopt.h>
#include <setjmp.h>

#define MAX_WORDS 40
#define TEXT_BYTES 4096

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);

static jmp_buf program_end;
static bool    is_reading; /* otherwise the fuzzer itself calls exit() */

void __wrap_exit(int status) {
    if (!is_reading) __real_exit(status);
    longjmp(program_end, status == 0 ? 100 : status);
}

static const command *const all[] = {
    &command_plan,    &command_build, &command_add,      &command_has,     &command_remove,
    &command_count,   &command_dedup, &command_get,      &command_info,    &command_verify,
    &command_resize,  &command_merge, &command_subtract, &command_convert, &command_send,
    &command_receive, &command_redis, &command_kinds,
};

#define N_COMMANDS (sizeof all / sizeof all[0])

static int split(char *text, char **ret_words) {
    int n = 1;
    for (char *at = text; *at != '\0' && n < MAX_WORDS;) {
        char *const end = strchr(at, '\n');
        ret_words[n++] = at;
        if (end == NULL) break;
        *end = '\0';
        at = end + 1;
    }
    ret_words[n] = NULL;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static char text[TEXT_BYTES], *words[MAX_WORDS + 1], name[] = "tamis";
    if (n < 2 || n >= TEXT_BYTES) return 0;
    memcpy(text, bytes + 1, n - 1);
    text[n - 1] = '\0';
    words[0] = name;
    optind = 0; /* reset getopt */
    if (setjmp(program_end) != 0) {
        is_reading = false;
        return 0;
    }
    is_reading = true;
    options   asked;
    int const n_words = split(text, words);
    options_read(all[bytes[0] % N_COMMANDS], n_words, words, &asked);
    must(asked.n_operands <= (size_t)n_words);
    if (asked.spec.geometry != NULL)
        geometry_check(asked.spec.geometry, asked.spec.kind, tamis_kind_name);
    is_reading = false;
    return 0;
}
