"""The variable-increment counting Bloom filter (Rottenstreich, Kanizo, Keslassy, sections III to V).

Where the library differs from the paper, and why:

  - if two places of a key are the same counter, they are one place with the sum of their increments: the
    counter may contain the key only if it may contain that sum;
  - a counter that reaches its maximum stays there, and excludes no key;
  - `more`: some keys have one hash more, so that k need not be an integer;
  - `blocked`: all counters of a key are in one line of 512 bits, each in a sector of its own.
"""
from common import Bits, digits, remix

LINE = 512
MOST_HASHES = 40


class Oracle:
    def __init__(self, g):
        self.g = g
        self.d = [v for v in range(32) if g["increments"] >> v & 1]
        self.top = 2 ** g["counter_bits"] - 1
        self.counters = [0] * g["counters"]
        self.sums = self.all_sums(2 * self.top)
        self.keys = self.moved = 0

    def all_sums(self, most):
        """Sums of any number of increments, from 0 on."""
        sums = {0}
        for s in range(1, most + 1):
            if any(s - v in sums for v in self.d):
                sums.add(s)
        return sums

    @property
    def saturated(self):
        return sum(c == self.top for c in self.counters)

    def probes(self, h):
        """{counter: the number that the key adds to it}."""
        g = self.g
        per_line, sectors = LINE // g["counter_bits"], g["hashes"] + (g["more"] != 0)
        found = {}
        for i in range(g["hashes"] + (remix(h, MOST_HASHES + 1) % 256 < g["more"])):
            if g["blocked"]:
                line, _ = digits(h, g["counters"] // per_line)
                first, end = i * per_line // sectors, (i + 1) * per_line // sectors
                counter, which, _ = digits(remix(h, i), end - first, len(self.d))
                counter += line * per_line + first
            else:
                counter, which, _ = digits(remix(h, i), g["counters"], len(self.d))
            found[counter] = found.get(counter, 0) + self.d[which]
        return found

    def may_hold(self, counter, v):
        c = self.counters[counter]
        return c == self.top or c >= v and c - v in self.sums

    def has(self, h):
        return all(self.may_hold(counter, v) for counter, v in self.probes(h).items())

    def count(self, h):
        """The count of a key: the minimum over its counters."""
        times = [max(t for t in range(c // v + 1) if c - t * v in self.sums or t == 0)
                 for c, v in ((self.counters[i], v) for i, v in self.probes(h).items())
                 if c != self.top]
        return min(times, default="many")

    def add(self, h):
        probes = self.probes(h)
        self.keys += any(self.counters[i] != self.top for i in probes)
        for i, v in probes.items():
            self.counters[i] = min(self.counters[i] + v, self.top)
        return "ok"

    def remove(self, h):
        if not self.has(h):
            return "absent"
        probes = self.probes(h)
        self.keys -= self.keys > 0 and any(self.counters[i] != self.top for i in probes)
        for i, v in probes.items():
            if self.counters[i] != self.top:
                self.counters[i] -= v
        return "ok"

    def structure(self):
        return list(self.counters)


def read(g, body):
    bits, width = Bits(body), g["counter_bits"]
    per_line = LINE // width if g["blocked"] else g["counters"]
    step = LINE if g["blocked"] else 0
    counters = []
    for i in range(g["counters"]):
        counters.append(bits.get(i // per_line * step + i % per_line * width, width))
    used = g["counters"] // per_line * step if g["blocked"] else g["counters"] * width
    assert bits.rest_is_zero(used), "bits behind the last counter"
    return counters
