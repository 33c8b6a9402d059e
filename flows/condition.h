/* condition.h - parse the conditions of rules, as in "syn and not (ack or server)".
 *
 * A recursive descent parser, with one function per level of precedence, that emits code for a
 * stack (machine.h):
 *
 *     condition = term { "or" term }
 *     term      = factor { "and" factor }
 *     factor    = "not" factor | "(" condition ")" | atom
 */
#ifndef FLOWS_CONDITION_H
#define FLOWS_CONDITION_H

#include "words.h"

bool condition_read(reader *r, machine_rule *rule);

#endif
