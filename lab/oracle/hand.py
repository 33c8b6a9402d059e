"""Time, for tables of states: the sweep, here called the hand, as on a clock. It counts timers down.

A table is divided into units. The hand passes all of them `most` times in a timeout. When it passes a
cell whose timer is 0, the cell is removed; other timers are decreased by one. A cell that is put or touched
gets the number of passes that its value lasts.

The paper has timers, but gives no details. These are choices of the library (docs/format.md):

  - the hand may be late. When a timer is set, the passes that are overdue for its unit are added, since
    they were due before;
  - at most `most` + 1 rounds are overdue: after those, every silent key is gone;
  - jumps of more than two timeouts have the same effect as two: the remaining part of a unit does not change.
"""
from fractions import Fraction
from math import ceil


class Hand:
    """Units are counted from the beginning of time; the count never restarts."""

    def __init__(self, g, units):
        self.units, self.timeout, self.timeouts = units, g["timeout"], g["timeouts"]
        self.most = 2 ** (g["timer_bits"] - 1) - 1 if self.timeout else 0
        self.done, self.due, self.rest = 0, 0, Fraction(0)

    def lasts(self, value):
        """How many passes a value lasts. A code that is not a value lasts as long as the longest."""
        if value not in range(len(self.timeouts)):
            return self.most
        return ceil(Fraction(self.timeouts[value] * self.most, self.timeout))

    def owed(self, unit):
        return sum(passed % self.units == unit for passed in range(self.done, self.due))

    def fresh(self, unit, value):
        return self.lasts(value) + self.owed(unit) if self.timeout else 0

    def advance(self, ticks):
        limit = self.done + (self.most + 1) * self.units
        if ticks > 2 * self.timeout:
            self.due = limit
            return
        way = self.rest + Fraction(ticks * self.units * self.most, self.timeout)
        self.due, self.rest = min(self.due + way // 1, limit), way % 1


class Ageing:
    """The base of all oracles of states. They define what a pass does to a unit: passes(unit, aged)."""

    def __init__(self, g, units):
        self.g, self.hand = g, Hand(g, units)
        self.puts = self.aged = self.moved = 0  # puts minus drops

    @property
    def keys(self):
        return self.puts

    @property
    def is_timed(self):
        return self.g["timer_bits"] != 0

    @property
    def done(self):
        """As in the library: the position in this round."""
        return self.hand.done % self.hand.units

    @property
    def due(self):
        return self.hand.due - self.hand.done + self.done

    def tick(self, ticks, work):
        """Do this much work. Returns the units that are still overdue, and the removed keys by value."""
        hand, gone = self.hand, [0] * self.g["values"]
        hand.advance(ticks)
        while work > 0 and hand.done < hand.due:
            self.passes(hand.done % hand.units, gone)
            hand.done, work = hand.done + 1, work - 1
        return " ".join(map(str, [hand.due - hand.done] + gone))

    def get(self, h):
        status, value = self.look(h)
        return f"ok {value}" if status == "ok" else status
