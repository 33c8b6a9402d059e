"""Time, for tables of states: the hand that goes round and round and counts timers down.

A table is divided into units. The hand passes all of them `most` times in a timeout. When it passes a
cell whose timer is 0 the cell goes; the timers of the others lose one. A cell that is put or touched
gets as many passes as its value lasts.

The paper has timers and says no more of them. These are choices of the library (docs/format.md):

  - the hand may be late. What it owes to a unit is added to a timer that is set, as it was due before;
  - it never owes more than most + 1 rounds: then all that was silent is gone;
  - jumps of more than two timeouts are all alike: what is left of a unit stays as it was.
"""
from fractions import Fraction
from math import ceil


class Hand:
    """Units are counted from the beginning of time, and never start again."""

    def __init__(self, g, units):
        self.units, self.timeout, self.timeouts = units, g["timeout"], g["timeouts"]
        self.most = 2 ** (g["timer_bits"] - 1) - 1 if self.timeout else 0
        self.done, self.due, self.rest = 0, 0, Fraction(0)

    def lasts(self, value):
        """Passes; what is no value lasts as long as any."""
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
    """What all oracles of states have. They say what a pass does to a unit: passes(unit, aged)."""

    def __init__(self, g, units):
        self.g, self.hand = g, Hand(g, units)
        self.puts = self.aged = self.moved = 0  # puts: less those that were dropped

    @property
    def keys(self):
        return self.puts

    @property
    def is_timed(self):
        return self.g["timer_bits"] != 0

    @property
    def done(self):
        """As the library has it: of this round."""
        return self.hand.done % self.hand.units

    @property
    def due(self):
        return self.hand.due - self.hand.done + self.done

    def tick(self, ticks, work):
        """What is owed after so much work, and what went, by value."""
        hand, gone = self.hand, [0] * self.g["values"]
        hand.advance(ticks)
        while work > 0 and hand.done < hand.due:
            self.passes(hand.done % hand.units, gone)
            hand.done, work = hand.done + 1, work - 1
        return " ".join(map(str, [hand.due - hand.done] + gone))

    def get(self, h):
        status, value = self.look(h)
        return f"ok {value}" if status == "ok" else status
