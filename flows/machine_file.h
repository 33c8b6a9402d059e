/* machine_file.h - load a machine by its name: a built-in one, or a file. */
#ifndef FLOWS_MACHINE_FILE_H
#define FLOWS_MACHINE_FILE_H

#include "machine.h"

/* An error ends the program with a message that names the line. */
void machine_load(machine *ret_machine, const char *name);

#endif
