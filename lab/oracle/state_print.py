"""Fingerprints with states in d-left buckets (SIGCOMM 2006, sections 3.4 and 4), as plain lists.

Where the library differs from the paper, or the paper leaves it open:

  - a print is never 0; in the paper an empty entry is all zeros, and an entry with print 0 could look the same;
  - `permuted`: the buckets come from permutations, which the paper uses only for its counting filter.
    Then nothing is unknown, and the code for "don't know" is not needed;
  - the side table (in the paper, a TCAM) is a list of full hashes. It has the keys that fit into no bucket,
    and those whose value is unknown when they are put;
  - an unknown key that is moved: all of its cells say "don't know" from then on. It is not dropped;
  - when a cell is removed, the last cell of its bucket takes its place.
"""
from common import Bits, Permutation, bits_for, digits, remix
from hand import Ageing

FIELDS = ["tables", "buckets", "cells", "print_bits", "value_bits", "bucket_bytes", "permuted",
          "reinserts", "side"]
HASH_OF_PRINT = 8
UNKNOWN = "unknown"


def value_width(g):
    """If the table is not permuted, there is one more value: "don't know"."""
    return max(1, bits_for(g["values"] + (not g["permuted"])))


class Entry:
    """A cell, or a key in the side table: its print or its hash, and its state."""

    def __init__(self, name, value):
        self.name, self.value, self.timer = name, value, None


class Oracle(Ageing):
    def __init__(self, g):
        buckets = g["tables"] * g["buckets"]
        super().__init__(g, buckets + (g["side"] != 0))
        self.lists = [[] for _ in range(buckets + 1)]  # of all subtables, and the side table
        self.side = buckets
        self.permutations = [Permutation(i, g["buckets"] << g["print_bits"])
                             for i in range(g["tables"])]
        self.saturated = 0

    @property
    def keys(self):
        return sum(map(len, self.lists))

    # -------------------------------------------------- where a key is

    def places(self, h):
        """Bucket and print in each subtable."""
        b, prints = self.g["buckets"], 2 ** self.g["print_bits"]
        found = []
        for i, permutation in enumerate(self.permutations):
            if self.g["permuted"]:
                first, q, _ = digits(h, b, prints - 1)
                bucket, print_ = divmod(permutation.there(first * prints + q + 1), prints)
            else:
                bucket = digits(remix(h, i), b)[0]
                print_ = 1 + digits(remix(h, HASH_OF_PRINT), prints - 1)[0]
            found.append((i * b + bucket, print_))
        return found

    def matches(self, h):
        """(list, entry) of each entry in the buckets that may be the key."""
        return [(bucket, entry) for bucket, print_ in self.places(h)
                for entry in self.lists[bucket] if entry.name == print_]

    def entries(self, h):
        """The same with the side table, whose entry is certainly the key."""
        aside = [(self.side, entry) for entry in self.lists[self.side] if entry.name == h]
        return aside or self.matches(h)

    def look(self, h):
        entries = self.entries(h)
        if not entries:
            return "absent", None
        if len(entries) > 1 or entries[0][1].value == UNKNOWN:
            return "unknown", None
        return "ok", entries[0][1].value

    def expect(self, h, value):
        status, found = self.look(h)
        return "conflict" if status == "ok" and value not in ("any", found) else status

    # -------------------------------------------------- what happens to entries

    def write(self, where, entry, value):
        entry.value, entry.timer = value, self.hand.fresh(where, value)

    def add(self, where, name, value):
        room = self.g["side"] if where == self.side else self.g["cells"]
        if len(self.lists[where]) == room:
            return "full"
        self.lists[where].append(Entry(name, value))
        self.write(where, self.lists[where][-1], value)
        return "ok"

    def take(self, where, entry):
        entries = self.lists[where]
        entries[entries.index(entry)] = entries[-1]
        entries.pop()

    def insert(self, h, value):
        """The leftmost of the least loaded buckets; the side table if that is full, or if the key would look like another one."""
        bucket, print_ = min(self.places(h), key=lambda place: len(self.lists[place[0]]))
        if self.matches(h) or len(self.lists[bucket]) == self.g["cells"]:
            return self.add(self.side, h, value)
        return self.add(bucket, print_, value)

    def blur(self, h, is_moved):
        for where, entry in self.entries(h):
            self.write(where, entry, UNKNOWN if is_moved else entry.value)

    # -------------------------------------------------- keys

    def put(self, h, value):
        status = self.expect(h, value)
        if status == "absent":
            return self.insert(h, value)
        where, entry = self.entries(h)[0]
        if status == "ok" or status == "unknown" and where == self.side:
            self.write(where, entry, value)
            return "ok"
        return self.add(self.side, h, value) if status == "unknown" else status

    def move(self, h, from_, to):
        status = self.expect(h, from_)
        if status == "unknown":
            self.blur(h, True)
        if status == "ok":
            where, entry = self.entries(h)[0]
            if not self.g["reinserts"]:
                self.write(where, entry, to)
                return "ok"
            self.take(where, entry)
            return self.insert(h, to)
        return status

    def touch(self, h):
        self.blur(h, False)
        return self.look(h)[0]

    def drop(self, h, from_):
        status = self.expect(h, from_)
        if status == "ok":
            self.take(*self.entries(h)[0])
        return status

    def passes(self, unit, gone):
        """Begin with the last entry, because the last entry takes the place of one that is removed."""
        for entry in reversed(list(self.lists[unit])):
            if entry.timer > 0:
                entry.timer -= 1
                continue
            self.take(unit, entry)
            self.aged += 1
            if entry.value != UNKNOWN:
                gone[entry.value] += 1

    def structure(self):
        return [[(entry.name, entry.value, entry.timer) for entry in entries]
                for entries in self.lists]


# ---------------------------------------------------------------------- from a body

def read_list(g, bits, names_at, width, fields_at, room):
    """(names, values, timers) of one list, and its length. The list has all names, then as many fields."""
    v, t = value_width(g), g["timer_bits"]
    assert v + t == g["value_bits"], "another width of fields"
    entries = []
    for i in range(room):
        at = fields_at + i * (v + t)
        value = bits.get(at, v)
        entries.append((bits.get(names_at + i * width, width),
                        UNKNOWN if value == g["values"] else value, bits.get(at + v, t)))
    return entries


def used_first(entries, used):
    assert all(entry == (0, 0, 0) for entry in entries[used:]), "bits are set after the last entry"
    return entries[:used]


def read(g, body):
    bits, f, cells = Bits(body), g["print_bits"], g["cells"]
    lists, buckets, size = [], g["tables"] * g["buckets"], 8 * g["bucket_bytes"]
    for at in range(0, buckets * size, size):
        entries = read_list(g, bits, at, f, at + cells * f, cells)
        lists.append(used_first(entries, sum(print_ != 0 for print_, _, _ in entries)))
        end = cells * (f + g["value_bits"])
        assert bits.get(at + end, size - end) == 0, "bits behind the last cell"
    side, room = -(-buckets * size // 64) * 64, g["side"]
    entries = read_list(g, bits, side + 64, 64, side + 64 + 64 * room, room)
    lists.append(used_first(entries, bits.get(side, 64) if room else 0))
    assert bits.get(buckets * size, side - buckets * size) == 0, "bits before the side table"
    end = side + 64 + room * (64 + g["value_bits"]) if room else side
    assert bits.rest_is_zero(end), "bits behind the last"
    return lists
