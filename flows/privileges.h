/* privileges.h - give up what is needed to open interfaces, once they are open. */
#ifndef FLOWS_PRIVILEGES_H
#define FLOWS_PRIVILEGES_H

/* Become `user` (NULL: stay the same), drop all capabilities for good, and forbid system calls that
 * reading packets never needs: to run programs, to open sockets, to trace other processes. Ends the
 * program if the user cannot be changed: it would run with more rights than requested. */
void privileges_drop(const char *user);

#endif
