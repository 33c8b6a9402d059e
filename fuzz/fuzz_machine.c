/* fuzz_machine.c - the input is the text of a machine: it is refused with a line number and a
 * reason, or it can handle any packet. */
#include "fuzz.h"
#include "machine.h"

#include <string.h>

static void check_rule(const machine *m, const machine_rule *rule) {
    if (rule == NULL) return;
    must(rule >= m->rules && rule < m->rules + m->n_rules);
    must(rule->go >= GO_END && rule->go < (int)m->n_states);
    must(rule->event >= -1 && rule->event < (int)m->n_events);
}

/* All flags, in every state, from both ends. */
static void use(const machine *m) {
    for (unsigned flags = 0; flags < 256; flags++) {
        packet const   p = { .flow = { .protocol = PROTOCOL_TCP,
                                       .port = { 80, (uint16_t)(flags * 257) } },
                             .flags = (uint8_t)flags,
                             .payload_bytes = flags * 7 };
        uint32_t const answers = machine_answers(m, &p);
        must(answers >> m->n_atoms == 0 && (answers & 1) == 0);
        (void)machine_takes(m, &p);
        for (int state = -1; state < (int)m->n_states; state++) {
            check_rule(m, machine_choose(m, state, answers, true));
            check_rule(m, machine_choose(m, state, answers, false));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static machine  m;
    machine_problem problem;
    char *const     copy = malloc(n != 0 ? n : 1);
    must(copy != NULL);
    memcpy(copy, bytes, n);
    if (machine_read(copy, n, &m, &problem)) {
        use(&m);
        machine_free(&m);
    } else {
        must(problem.line >= 1 && problem.text[0] != '\0');
    }
    free(copy);
    return 0;
}
