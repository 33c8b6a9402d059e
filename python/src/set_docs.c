/* set_docs.c - the documentation strings of Set and Counter. Their examples are run by a test. */
#include "set.h"

#define KEYWORDS                                                                             \
    "  capacity   how many different keys; default: the number of keys in `keys`\n"          \
    "  fpr        the false-positive rate at capacity; default: 0.001\n"                     \
    "  grow_to    let it grow to this capacity, at the same fpr\n"                           \
    "  remove     whether keys can be removed (True)\n"                                      \
    "  memory     largest size in bytes: the lowest fpr that fits, or the most keys\n"       \
    "  shared     True: batches of many threads change it at the same time\n"                \
    "  prefer     'fast' or 'small'\n"                                                       \
    "  like       a set that can be merged with this one\n"                                  \
    "  seed       an int of 128 bits; random by default\n"                                   \
    "  hash       'xxh3', or 'siphash' for keys that an attacker may choose\n"               \
    "  copies, count_to, merge, kind, geometry, lifetime, overflow, isa: see tamis_spec in " \
    "tamis.h\n"

const char set_doc[] =
    "Set(keys=None, /, *, capacity=None, fpr=0.001, remove=True, grow_to=None, **more)\n--\n\n"
    "A compact set of keys: bytes, str or int.\n\n" KEYWORDS "\n"
    "It is a multiset: a key that was added twice must be removed twice. So two keys with the\n"
    "same fingerprint do not harm each other. Remove only what you added.\n\n"
    ">>> s = tamis.Set(capacity=1000, fpr=0.01)\n"
    ">>> s.add('apple')\n"
    ">>> s.update([b'plum', 17, 18])\n"
    ">>> 'apple' in s, 17 in s, len(s)\n"
    "(True, True, 4)\n"
    ">>> s.discard('pear'), s.discard(18)\n"
    "(False, True)\n";

const char set_add_doc[] =
    "add($self, key, /)\n--\n\n"
    "Add one key. FullError: there is no room for it, and nothing has changed.\n";

const char set_add_new_doc[] =
    "add_new($self, key, /)\n--\n\n"
    "Add one key only if the set does not have it yet. Returns whether it was new. A false\n"
    "positive is not added; so do not remove keys from a set that is filled in this way.\n\n"
    ">>> s = tamis.Set(capacity=100)\n"
    ">>> s.add_new('a'), s.add_new('a')\n"
    "(True, False)\n";

const char set_remove_doc[] =
    "remove($self, key, /)\n--\n\n"
    "Remove one copy of a key. KeyError (an AbsentError) if it is not in the set;\n"
    "SaturatedError if it was added more often than the set can count: it cannot be removed.\n";

const char set_discard_doc[] =
    "discard($self, key, /)\n--\n\n"
    "Remove one copy of a key if there is one. Returns whether there was.\n";

const char set_update_doc[] =
    "update($self, keys, /)\n--\n\n"
    "Add many keys: a list, an iterator, a numpy or an Arrow array. If one is refused,\n"
    "FullError.done says how many were added.\n\n"
    ">>> s = tamis.Set(capacity=1000)\n"
    ">>> s.update(range(500))\n"
    ">>> len(s)\n"
    "500\n";

const char set_update_new_doc[] =
    "update_new($self, keys, /)\n--\n\n"
    "add_new() for many keys. Returns for each whether it was new.\n\n"
    ">>> list(map(bool, tamis.Set(capacity=100).update_new(['a', 'b', 'a'])))\n"
    "[True, True, False]\n";

const char set_contains_doc[] =
    "contains($self, keys, /)\n--\n\n"
    "For each of many keys, whether it is in the set: a numpy array of bool, or a bytearray if\n"
    "there is no numpy.\n\n"
    ">>> s = tamis.Set(['a', 'b'], capacity=100)\n"
    ">>> list(map(bool, s.contains(['a', 'b', 'c'])))\n"
    "[True, True, False]\n";

const char set_remove_all_doc[] =
    "remove_all($self, keys, /)\n--\n\n"
    "Remove one copy of each of many keys. Returns for each whether it was removed.\n\n"
    ">>> s = tamis.Set(['a', 'b'], capacity=100)\n"
    ">>> list(map(bool, s.remove_all(['a', 'a'])))\n"
    "[True, False]\n";

const char set_clear_doc[] = "clear($self, /)\n--\n\nRemove everything.\n";

const char set_copy_doc[] = "copy($self, /)\n--\n\n"
                            "A set with the same contents, in memory, that can be changed.\n";

const char set_resize_doc[] =
    "resize($self, capacity, /)\n--\n\n"
    "Change the capacity of a set that can grow. Possible capacities are the first capacity\n"
    "times a power of two; the set gets the smallest that is large enough, and returns it.\n\n"
    ">>> tamis.Set(capacity=1000, grow_to=8000).resize(3000)\n"
    "4000\n";

const char set_close_doc[] =
    "close($self, /)\n--\n\nFree the memory now. `with` does it at the end of its block.\n";

const char counter_doc[] =
    "Counter(keys=None, /, *, capacity=None, fpr=0.001, count_to=255, grow_to=None, **more)\n--\n\n"
    "A compact counter of keys: how often was each added?\n\n" KEYWORDS
    "  count_to   the highest exact count\n\n"
    "A count is never too low; it is too high with a probability of about fpr. If a key has\n"
    "more copies than the counter can count, the count is tamis.MANY.\n\n"
    ">>> c = tamis.Counter(capacity=1000)\n"
    ">>> c.update(['a', 'b', 'a'])\n"
    ">>> c.add('b', 10)\n"
    ">>> c['a'], c['b'], c['c']\n"
    "(2, 11, 0)\n";

const char counter_add_doc[] =
    "add($self, key, /, n=1)\n--\n\nAdd n copies of a key: all of them or none.\n";

const char counter_update_doc[] = "update($self, keys, /)\n--\n\n"
                                  "Add many keys, or all keys of a mapping with its counts.\n\n"
                                  ">>> c = tamis.Counter(capacity=100)\n"
                                  ">>> c.update({'a': 3, 'b': 1})\n"
                                  ">>> c['a']\n"
                                  "3\n";

const char counter_counts_doc[] =
    "counts($self, keys, /)\n--\n\n"
    "The counts of many keys: a numpy array of uint64, or a memoryview if there is no numpy.\n\n"
    ">>> c = tamis.Counter(['a', 'b', 'a'], capacity=100)\n"
    ">>> list(map(int, c.counts(['a', 'b', 'c'])))\n"
    "[2, 1, 0]\n";

const char counter_total_doc[] =
    "total($self, /)\n--\n\nThe sum of all counts, as in collections.Counter.\n";

const char counter_most_doc[] =
    "Not possible: the keys are not stored, so they cannot be listed. It raises a CannotError\n"
    "that says so.\n";
