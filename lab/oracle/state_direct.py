"""The direct Bloom filter of states: pairs of a key and a value in a counting Bloom filter.

SIGCOMM 2006 compares the other tables with it. Where the library differs, and why:

  - if several pairs are found, the value is unknown; if the caller names one of them, it is accepted;
  - counters saturate at their maximum;
  - with timers, a put of a key that is in the table with another value is refused;
  - a cell that pairs with different timeouts share keeps the longer timer;
  - without counters a cell is one bit, which other pairs may share. So it is never cleared: a drop returns
    "unknown", and after a move the old pair times out. With timers, a put of a key that seems to be in the
    table refreshes the pairs that it seems to have;
  - with timers keys cannot be counted: cells in use are counted instead.
"""
from common import Bits, remix
from hand import Ageing
from state_bloom import FIELDS, places, unit_cells

FIRST_VALUE = 64


def cell_bits(g):
    return max(g["counter_bits"], 1), g["timer_bits"]


class Oracle(Ageing):
    def __init__(self, g):
        self.size = unit_cells(sum(cell_bits(g)))
        super().__init__(g, -(-g["cells"] // self.size))
        self.counts, self.timers = [0] * g["cells"], [0] * g["cells"]
        self.top = 2 ** cell_bits(g)[0] - 1
        self.is_counted = g["counter_bits"] != 0

    @property
    def keys(self):
        return sum(count != 0 for count in self.counts) if self.is_timed else self.puts

    @property
    def saturated(self):
        return self.counts.count(self.top) if self.is_counted else 0

    def pair(self, h, value):
        return places(remix(h, FIRST_VALUE + value), self.g)

    def found(self, h):
        """The values that a key seems to have."""
        return [value for value in range(self.g["values"])
                if all(self.counts[place] for place in self.pair(h, value))]

    def add(self, h, value):
        for place in self.pair(h, value):
            self.counts[place] = min(self.counts[place] + 1, self.top)
        self.refresh(h, value)

    def remove(self, h, value):
        for place in self.pair(h, value):
            if self.counts[place] < self.top:
                self.counts[place] -= 1
            if self.counts[place] == 0:
                self.timers[place] = 0

    def refresh(self, h, value):
        for place in self.pair(h, value):
            fresh = self.hand.fresh(place // self.size, value)
            self.timers[place] = max(self.timers[place], fresh)

    def look(self, h):
        found = self.found(h)
        if len(found) == 1:
            return "ok", found[0]
        return ("unknown" if found else "absent"), None

    def expect(self, h, value):
        """Status and value for a caller who accepts any value, or names one."""
        found = self.found(h)
        if value == "any" or not found:
            return self.look(h)
        return ("ok", value) if value in found else ("conflict", None)

    def touch(self, h):
        """Refresh all pairs that the key seems to have, since one of them is the real one."""
        status, _ = self.look(h)
        for value in self.found(h):
            self.refresh(h, value)
        return status

    def put(self, h, value):
        found = self.found(h)
        if self.is_timed and len(found) == 1 and found != [value]:
            return "conflict"
        if self.is_timed and not self.is_counted and found:
            return self.touch(h)
        self.add(h, value)
        self.puts += 1
        return "ok"

    def move(self, h, from_, to):
        status, value = self.expect(h, from_)
        if status == "unknown":
            return self.touch(h)
        if status == "ok" and value == to:
            self.refresh(h, value)
        elif status == "ok":
            if self.is_counted:
                self.remove(h, value)
            self.add(h, to)
        return status

    def drop(self, h, from_):
        status, value = self.expect(h, from_)
        if status == "ok" and not self.is_counted:
            return "unknown"
        if status == "ok":
            self.remove(h, value)
            self.puts = max(self.puts - 1, 0)
        return status

    def passes(self, unit, _):
        for place in range(unit * self.size, min((unit + 1) * self.size, self.g["cells"])):
            if self.counts[place] and self.timers[place] == 0:
                self.counts[place] = 0
                self.aged += 1
            elif self.counts[place]:
                self.timers[place] -= 1

    def structure(self):
        return list(zip(self.counts, self.timers))


def read(g, body):
    """Read the same structure from a body."""
    bits, (c, t) = Bits(body), cell_bits(g)
    cells = [(bits.get(i * (c + t), c), bits.get(i * (c + t) + c, t)) for i in range(g["cells"])]
    assert bits.rest_is_zero(g["cells"] * (c + t)), "bits behind the last cell"
    return cells
