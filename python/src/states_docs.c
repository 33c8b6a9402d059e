/* states_docs.c - the documentation strings of States. Their examples are run by a test. */
#include "states.h"

const char states_doc[] =
    "States(*, values, capacity=None, fpr=0.001, timeout=None, grow_to=None, **more)\n--\n\n"
    "Keys that carry a small value: the state of a connection, the phase of a job.\n\n"
    "  values     how many values there are: 0, 1, ..., values - 1\n"
    "  capacity   how many keys at one time\n"
    "  fpr        how often a key that is not in the table has a value\n"
    "  timeout    ticks after which a key is removed if it is not refreshed; a list: one for\n"
    "             each value\n"
    "  shared     True: batches of many threads change it at the same time\n"
    "  unknown, timer_bits, grow_to, memory, prefer, like, seed, hash, kind, geometry, lifetime,\n"
    "  overflow, isa: see tamis_states_spec in states.h\n\n"
    "A lookup has three results: a value, absent, or tamis.UNKNOWN if the table can tell that\n"
    "a value might be wrong.\n\n"
    ">>> s = tamis.States(values=8, capacity=1000, timeout=60)\n"
    ">>> s['10.0.0.1:80'] = 3\n"
    ">>> s['10.0.0.1:80'], s.get('10.0.0.2:80'), s.get('10.0.0.2:80', tamis.ABSENT).name\n"
    "(3, None, 'ABSENT')\n"
    ">>> s.move('10.0.0.1:80', 3, 4)\n"
    ">>> s.tick(120)\n"
    "0\n"
    ">>> '10.0.0.1:80' in s\n"
    "False\n";

const char states_get_doc[] = "get($self, key, default=None, /)\n--\n\n"
                              "The value of a key, `default` if it is absent, or tamis.UNKNOWN.\n";

const char states_put_doc[] =
    "put($self, key, value, /)\n--\n\n"
    "Add a key with its value. ConflictError if the key has another value.\n\n"
    ">>> s = tamis.States(values=4, capacity=100)\n"
    ">>> s.put('a', 1)\n"
    ">>> s.put('a', 2)\n"
    "Traceback (most recent call last):\n"
    "tamis.ConflictError: the key has another value: 'a'\n";

const char states_move_doc[] =
    "move($self, key, old, new, /)\n--\n\n"
    "Give another value to a key that has the value `old` (None: any), and refresh it.\n"
    "AbsentError (a KeyError), ConflictError, UnknownError.\n";

const char states_touch_doc[] =
    "touch($self, key, /)\n--\n\n"
    "Refresh the timer of a key. AbsentError (a KeyError), UnknownError (it was refreshed).\n";

const char states_drop_doc[] =
    "drop($self, key, value=None, /)\n--\n\n"
    "Remove a key that has this value (None: any), as `del s[key]` does.\n"
    "AbsentError (a KeyError), ConflictError, UnknownError.\n";

const char states_tick_doc[] =
    "tick($self, ticks=1, /)\n--\n\n"
    "Let time pass, and remove keys that were not refreshed within the timeout. One call does a\n"
    "bounded part of the work and returns how much is left; tick(0) continues it.\n";

const char states_timeout_doc[] =
    "timeout($self, value, /)\n--\n\n"
    "The real timeout of a value, as (least, most) ticks.\n\n"
    ">>> tamis.States(values=2, capacity=100, timeout=60).timeout(0)\n"
    "(60, 120)\n";

const char states_tally_doc[] = "tally($self, /)\n--\n\n"
                                "How many keys have each value.\n\n"
                                ">>> s = tamis.States(values=3, capacity=100)\n"
                                ">>> list(s.set_all([1, 2, 3], [0, 2, 2])) and s.tally()\n"
                                "[1, 0, 2]\n";

const char states_get_all_doc[] =
    "get_all($self, keys, /)\n--\n\n"
    "The values of many keys: an array of int64, with -1 (tamis.ABSENT) and -2 (tamis.UNKNOWN).\n";

const char states_set_all_doc[] =
    "set_all($self, keys, values, /)\n--\n\n"
    "s[key] = value for many keys; `values` is one number or one for each key. Returns for each\n"
    "whether it was done.\n";

const char states_put_all_doc[] = "put_all($self, keys, values, /)\n--\n\n"
                                  "put() for many keys. Returns for each whether it was done.\n";

const char states_touch_all_doc[] =
    "touch_all($self, keys, /)\n--\n\n"
    "touch() for many keys. Returns for each whether it was done.\n";

const char states_drop_all_doc[] =
    "drop_all($self, keys, /)\n--\n\n"
    "Remove many keys, whatever their values. Returns for each whether it was done.\n";

const char states_step_doc[] = "step($self, keys, events, machine, /)\n--\n\n"
                               "Run one step of a tamis.Machine for each key: look it up, find the "
                               "transition for its state\n"
                               "and event, and do it. Returns (before, done): the values before, "
                               "as get_all() gives them,\n"
                               "and whether the transition was done.\n";

const char states_clear_doc[] = "clear($self, /)\n--\n\nRemove everything.\n";

const char states_copy_doc[] =
    "copy($self, /)\n--\n\nA table with the same contents, in memory, that can be changed.\n";

const char states_resize_doc[] =
    "resize($self, capacity, /)\n--\n\n"
    "Change the capacity of a table that can grow. Possible capacities are the first capacity\n"
    "times a power of two; the table gets the smallest that is large enough, and returns it.\n"
    "Values and timers stay as they are.\n\n"
    ">>> tamis.States(values=4, capacity=10000, grow_to=80000).resize(30000)\n"
    "40000\n";

const char states_close_doc[] =
    "close($self, /)\n--\n\nFree the memory now. `with` does it at the end of its block.\n";
