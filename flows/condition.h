/* condition.h - the conditions of rules, as in "syn and not (ack or server)".
 *
 * Read by recursive descent, one function per level of precedence, and turned into code for a stack
 * on the way (machine.h):
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
