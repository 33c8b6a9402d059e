"""The stateful Bloom filter (SIGCOMM 2006, section 3.3), as a list of cells.

Where the library differs from the paper, and why:

  - in the paper, "don't know" is encoded as "no value, and two keys or more". When one of two keys is
    dropped, the other is still there. So here it is a separate value, and stays when one key is left;
  - if a cell has several keys and one of them moves to the value of the cell, the cell keeps its value;
  - counters saturate at their maximum; the paper's counters have no maximum;
  - with timers, a put of a key that is in the table with another value is refused;
  - without counters an unknown cell never changes, since its number of keys is not known, and an unknown
    key is not dropped. With timers and without counters, a put of a key that is in the table refreshes it;
  - with timers keys cannot be counted: cells in use are counted instead.
"""
from common import Bits, digits, remix
from hand import Ageing

FIELDS = ["cells", "hashes", "values", "counter_bits", "timer_bits"]
EMPTY, UNKNOWN = "empty", "unknown"
LINE = 512


def places(h, g):
    """The places of a key. Places that coincide count once."""
    return sorted({digits(remix(h, i), g["cells"])[0] for i in range(g["hashes"])})


def unit_cells(bits):
    """The cells of a unit: the largest power of two that fits a line."""
    return max(2**i for i in range(10) if 2**i * bits <= LINE)


def cell_bits(g):
    return (g["values"] + 1).bit_length(), g["counter_bits"], g["timer_bits"]


class Cell:
    def __init__(self):
        self.clear()

    def clear(self):
        self.says, self.keys, self.timer = EMPTY, 0, 0


class Oracle(Ageing):
    def __init__(self, g):
        self.size = unit_cells(sum(cell_bits(g)))
        super().__init__(g, -(-g["cells"] // self.size))
        self.cells = [Cell() for _ in range(g["cells"])]
        self.most = 2 ** g["counter_bits"]
        self.is_counted = g["counter_bits"] != 0

    @property
    def keys(self):
        return sum(cell.says != EMPTY for cell in self.cells) if self.is_timed else self.puts

    @property
    def saturated(self):
        return sum(self.is_stuck(cell) for cell in self.cells)

    def is_stuck(self, cell):
        return self.is_counted and cell.keys == self.most

    # -------------------------------------------------- what an operation does to one cell

    def insert(self, cell, value):
        if cell.says == EMPTY:
            cell.says, cell.keys = value, 1
        else:
            if cell.says != value or not self.is_counted:
                cell.says = UNKNOWN
            cell.keys = min(cell.keys + 1, self.most)

    def modify(self, cell, value):
        if cell.says not in (UNKNOWN, value):
            cell.says = value if cell.keys == 1 else UNKNOWN

    def delete(self, cell):
        if self.is_stuck(cell) or not self.is_counted and cell.says == UNKNOWN:
            return
        cell.keys -= 1
        if cell.keys == 0:
            cell.clear()

    def refresh(self, place):
        cell = self.cells[place]
        cell.timer = self.hand.fresh(place // self.size, cell.says)

    def each(self, h, rule, *arguments):
        for place in places(h, self.g):
            rule(self.cells[place], *arguments)
            if rule != self.delete:
                self.refresh(place)

    # -------------------------------------------------- keys

    def look(self, h):
        says = {self.cells[place].says for place in places(h, self.g)}
        values = says - {EMPTY, UNKNOWN}
        if EMPTY in says or len(values) > 1:
            return "absent", None
        return ("ok", values.pop()) if values else ("unknown", None)

    def expect(self, h, value):
        status, found = self.look(h)
        return "conflict" if status == "ok" and value not in ("any", found) else status

    def seen(self, h, status):
        """Refresh the key, if it is in the table."""
        if status in ("ok", "unknown"):
            for place in places(h, self.g):
                self.refresh(place)
        return status

    def put(self, h, value):
        status = self.expect(h, value)
        if self.is_timed and status == "conflict":
            return status
        if self.is_timed and not self.is_counted and status != "absent":
            return self.seen(h, status)
        self.each(h, self.insert, value)
        self.puts += 1
        return "ok"

    def move(self, h, from_, to):
        status = self.expect(h, from_)
        if status != "ok":
            return self.seen(h, status)
        self.each(h, self.modify, to)
        return "ok"

    def touch(self, h):
        return self.seen(h, self.expect(h, "any"))

    def drop(self, h, from_):
        status = self.expect(h, from_)
        if status == "ok" or status == "unknown" and self.is_counted:
            self.each(h, self.delete)
            self.puts = max(self.puts - 1, 0)
            return "ok"
        return status

    def passes(self, unit, _):
        for cell in self.cells[unit * self.size:(unit + 1) * self.size]:
            if cell.says != EMPTY and cell.timer == 0:
                cell.clear()
                self.aged += 1
            elif cell.says != EMPTY:
                cell.timer -= 1

    def structure(self):
        return [(cell.says, cell.keys, cell.timer) for cell in self.cells]


def read(g, body):
    """Read the same structure from a body."""
    bits, (s, c, t) = Bits(body), cell_bits(g)
    cells = []
    for at in range(0, g["cells"] * (s + c + t), s + c + t):
        code, more, timer = bits.get(at, s), bits.get(at + s, c), bits.get(at + s + c, t)
        says = EMPTY if code == 0 else UNKNOWN if code == g["values"] + 1 else code - 1
        assert says != EMPTY or more == timer == 0, "an empty cell that is not zero"
        cells.append((says, 0 if says == EMPTY else more + 1, timer))
    assert bits.rest_is_zero(g["cells"] * (s + c + t)), "bits behind the last cell"
    return cells
