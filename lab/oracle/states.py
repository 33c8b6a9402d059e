"""Tables of states for check-oracle: scenarios, histories and saboteurs."""
import random

import state_bloom
import state_direct
import state_print

OPERATIONS = 1500
LOOK_EVERY = 50
ABILITIES = "states"


def timed(values, timeout, timer_bits, timeouts=()):
    return {"values": values, "timeout": timeout, "timer_bits": timer_bits,
            "timeouts": list(timeouts)}


def prints(*numbers, life):
    """tables, buckets, cells, print_bits, bucket_bytes, permuted, reinserts, side."""
    fields = [field for field in state_print.FIELDS if field != "value_bits"]
    g = {**dict(zip(fields, numbers)), **life}
    return {**g, "value_bits": state_print.value_width(g) + g["timer_bits"]}


def shared(cells, hashes, counter_bits, life):
    return {"cells": cells, "hashes": hashes, "counter_bits": counter_bits, **life}


UNTIMED = timed(5, 0, 0)

# kind, a mark that it has states, keys that fill it, geometry and lifetime
SCENARIOS = [(module, ABILITIES, fill, g) for module, fill, g in [
    (state_print, 60, prints(3, 7, 3, 6, 5, 1, 0, 4, life=UNTIMED)),
    (state_print, 60, prints(3, 8, 3, 5, 4, 1, 1, 5, life=timed(4, 60, 2))),
    (state_print, 50, prints(2, 9, 4, 7, 8, 1, 0, 0, life=timed(6, 100, 4, [100, 50, 20, 1, 99, 7]))),
    (state_print, 50, prints(3, 7, 3, 4, 4, 0, 0, 6, life=timed(3, 90, 3))),
    (state_print, 60, prints(4, 5, 4, 5, 6, 0, 1, 8, life=timed(4, 50, 2))),
    (state_print, 40, prints(2, 11, 4, 4, 5, 0, 0, 20, life=UNTIMED)),
    (state_print, 50, prints(3, 7, 3, 4, 6, 0, 1, 64, life=timed(16, 1000, 5, range(1, 1000, 63)))),
    (state_bloom, 60, shared(600, 4, 2, UNTIMED)),
    (state_bloom, 60, shared(97, 4, 1, UNTIMED)),
    (state_bloom, 60, shared(300, 4, 0, timed(4, 60, 3))),
    (state_bloom, 60, shared(701, 3, 0, timed(3, 100, 4, [100, 40, 3]))),
    (state_bloom, 60, shared(250, 3, 2, timed(6, 80, 2))),
    (state_bloom, 40, shared(500, 5, 0, UNTIMED)),
    (state_direct, 60, shared(1200, 4, 2, UNTIMED)),
    (state_direct, 60, shared(150, 3, 2, timed(3, 60, 2))),
    (state_direct, 60, shared(900, 5, 3, timed(5, 100, 4, [100, 60, 30, 9, 1]))),
    (state_direct, 60, shared(600, 3, 0, timed(4, 90, 3, [90, 10, 45, 60]))),
    (state_direct, 40, shared(1500, 4, 0, timed(16, 0, 0))),
]]


# ---------------------------------------------------------------------- histories

class Life:
    """Keys that are put, moved and dropped, and their values by an exact account of a caller who follows the rules; and other keys."""

    def __init__(self, g, seed):
        self.g, self.chance, self.known = g, random.Random(seed), {}

    def value(self):
        return self.chance.randrange(self.g["values"])

    def key(self):
        """A key; most of the time one that is in the table."""
        if self.known and self.chance.random() < 0.9:
            return self.chance.choice(list(self.known))
        return self.chance.getrandbits(64)

    def expected(self, h):
        """The value that a key has, or any value; seldom a wrong one."""
        return self.chance.choices([self.known.get(h, self.value()), "any", self.value()],
                                   [6, 3, 1])[0]

    def put(self):
        h, value = self.chance.getrandbits(64), self.value()
        self.known[h] = value
        return "put", (h, value)

    def again(self):
        h = self.key()
        value = self.chance.choice([self.known.get(h, 0), self.value()])
        self.known.setdefault(h, value)
        return "put", (h, value)

    def move(self):
        h = self.key()
        from_, to = self.expected(h), self.value()
        if h in self.known and from_ in ("any", self.known[h]):
            self.known[h] = to
        return "move", (h, from_, to)

    def touch(self):
        return "touch", (self.key(),)

    def get(self):
        return "get", (self.key(),)

    def drop(self):
        h = self.key()
        from_ = self.expected(h)
        if from_ in ("any", self.known.get(h)):
            self.known.pop(h, None)
        return "drop", (h, from_)

    def tick(self):
        """Ticks, and work for them: enough, none, or too little. Seldom, many ticks."""
        timeout = self.g["timeout"]
        ticks = self.chance.choices([self.chance.randrange(timeout // 5 + 1), timeout,
                                     self.chance.randrange(2 * timeout, 5 * timeout)], [60, 2, 1])[0]
        return "tick", (ticks, self.chance.choice([0, 1, 5, 5, 10**6, 10**6]))


def history(fill, g, seed):
    """Put more keys than fit, then put and drop keys; all of that twice."""
    life = Life(g, seed)
    verbs = [life.put, life.again, life.move, life.touch, life.get, life.drop]
    verbs += [life.tick] if g["timeout"] else []
    for step in range(OPERATIONS):
        filling = step % (OPERATIONS // 2) < 3 * fill
        weights = [8, 1, 2, 1, 3, 1, 0.2] if filling else [3, 1, 3, 2, 3, 3, 1]
        yield life.chance.choices(verbs, weights[:len(verbs)])[0]()
        if step % LOOK_EVERY == LOOK_EVERY - 1:
            yield "body", 0


def line_of(verb, arguments):
    first = arguments[0] if verb == "tick" else f"{arguments[0]:x}"
    return " ".join(map(str, [verb, first, *arguments[1:]]))


def first_line(module, g):
    timeouts = ",".join(map(str, g["timeouts"])) or "-"
    geometry = ",".join(f"{field}={g[field]}" for field in module.FIELDS)
    return f"states {module.__name__} {g['values']} {g['timeout']} {g['timer_bits']} " \
           f"{timeouts} {geometry}"


# ---------------------------------------------------------------------- saboteurs

class ForgetsWhatIsOwed(state_print.Oracle):
    def write(self, where, entry, value):
        entry.value, entry.timer = value, self.hand.lasts(value)


class ForgetsUnknownKeys(state_print.Oracle):
    """A move of an unknown key changes only one cell."""

    def blur(self, h, is_moved):
        for where, entry in self.entries(h)[:1]:
            self.write(where, entry, state_print.UNKNOWN if is_moved else entry.value)


class DropsOneOfTwo(state_print.Oracle):
    def drop(self, h, from_):
        status = self.expect(h, from_)
        if status in ("ok", "unknown"):
            self.take(*self.entries(h)[0])
        return status


class StaysInItsBucket(state_print.Oracle):
    def __init__(self, g):
        super().__init__({**g, "reinserts": 0})


class LonePairIsEmpty(state_bloom.Oracle):
    """As in the paper: "unknown" means no value and two keys. So when one of them is left, there is nothing."""

    def delete(self, cell):
        super().delete(cell)
        if cell.says == state_bloom.UNKNOWN and cell.keys == 1 and self.is_counted:
            cell.clear()


class ChangesForAll(state_bloom.Oracle):
    def modify(self, cell, value):
        if cell.says != state_bloom.UNKNOWN:
            cell.says = value


class TakesEqualForSame(state_bloom.Oracle):
    """Without counters, a cell that two keys with the same value share keeps that value."""

    def insert(self, cell, value):
        equal = cell.says == value
        super().insert(cell, value)
        cell.says = value if equal else cell.says


class KeepsTheNewTimer(state_direct.Oracle):
    def refresh(self, h, value):
        for place in self.pair(h, value):
            self.timers[place] = self.hand.fresh(place // self.size, value)


class TakesMarksAway(state_direct.Oracle):
    def drop(self, h, from_):
        status, value = self.expect(h, from_)
        if status == "ok":
            self.remove(h, value)
        return status


class CountsPlacesTwice(state_direct.Oracle):
    """If places of a pair coincide, the pair counts several times there."""

    def pair(self, h, value):
        found = state_direct.remix(h, state_direct.FIRST_VALUE + value)
        return [state_direct.remix(found, i) * self.g["cells"] >> 64
                for i in range(self.g["hashes"])]


SABOTEURS = [ForgetsWhatIsOwed, ForgetsUnknownKeys, DropsOneOfTwo, StaysInItsBucket, LonePairIsEmpty,
             ChangesForAll, TakesEqualForSame, KeepsTheNewTimer, TakesMarksAway, CountsPlacesTwice]
