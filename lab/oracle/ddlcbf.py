"""The d-left counting filter with dynamic bit reassignment (Allerton 2006, section III).

A cell is [the first letters of a string of 0 and 1, copies]. Up to `stuck` - 1 copies are counted; a
cell with `stuck` copies is saturated and is never removed.

Where the library differs from the paper, and why:

  - keys with the same minimal remainder need not be in one bucket: otherwise a full bucket would have to take
    them. The longest match over all buckets is removed, which is right wherever the copies are;
  - the length of the cells depends on the highest load since the bucket was last empty, not since its
    beginning: an empty bucket has no cells that were cut;
  - copies take up to 4 cells; further copies saturate the key. Counters of C bits count to 2^C - 1;
  - with two lengths, the paper says that newcomers take "as much space as possible": the long ones
    share the bits that the short ones leave. If they would not be longer than these, all cells get the same
    length.
"""
from common import Bits, Permutation, bits_for, digits, letters

MOST_CELLS = 4


class Shape:
    def __init__(self, g):
        self.least, self.c, self.cells = g["remainder_bits"], g["counter_bits"], g["cells"]
        self.is_one = g["lengths"] == 1
        self.triples = [(level, n, zeros) for level in range(self.cells + 2)
                        for n in range(min(level, self.cells) + 1) for zeros in range(n + 1)]
        self.pairs = [(n, long) for n in range(self.cells + 1) for long in range(n + 1)]
        self.code_bits = bits_for(len(self.triples)) if self.is_one else bits_for(len(self.pairs)) + 10
        self.room = 8 * g["bucket_bytes"] - self.code_bits
        self.most = 40
        while g["buckets"] << self.most > 2**62:
            self.most -= 1
        if not self.is_one:
            self.most = min(self.most, self.least + 31)

    def length(self, level):
        """The length of this many cells that share the room. With one length, the first bit is not stored."""
        if level > self.cells:
            return self.least
        if level == 0:
            return self.most
        return min(self.most, self.room // level - self.c + self.is_one)


class Bucket:
    """Sort the cells: the short ones first, then by letters, then by copies."""

    def __init__(self):
        self.level, self.cells = 0, []

    def sort(self):
        self.cells.sort(key=lambda cell: (len(cell[0]), cell[0], cell[1]))

    def cut(self, length, only_longer_than=0):
        for cell in self.cells:
            if len(cell[0]) > only_longer_than:
                cell[0] = cell[0][:length]

    def put(self, shape, string):
        """Add one cell; the others become shorter to make room."""
        length = self.fit_one(shape) if shape.is_one else self.fit_two(shape)
        self.cells.append([string[:length], 1])
        self.sort()

    def fit_one(self, shape):
        self.level = max(self.level, len(self.cells) + 1)
        self.cut(shape.length(self.level))
        return shape.length(self.level)

    def fit_two(self, shape):
        if not self.cells:
            return shape.length(1)
        short = len(self.cells[0][0])
        long = [cell for cell in self.cells if len(cell[0]) > short]
        left = shape.room - (len(self.cells) - len(long)) * (short + shape.c)
        length = min([left // (len(long) + 1) - shape.c, shape.most] + [len(cell[0]) for cell in long])
        if length > short:
            self.cut(length, only_longer_than=short)
            return length
        length = min(short, shape.length(len(self.cells) + 1))
        self.cut(length)
        return length

    def take(self, cell):
        self.cells = [other for other in self.cells if other is not cell]
        if not self.cells:
            self.level = 0

    def squeezed(self, shape, stuck):
        """The same bucket with all cells cut to the least length; equal cells become one."""
        new, copies = Bucket(), {}
        new.level = shape.cells + 1 if shape.is_one else 0
        for prefix, n in self.cells:
            copies[prefix[:shape.least]] = copies.get(prefix[:shape.least], 0) + n
        new.cells = [[prefix, min(n, stuck)] for prefix, n in copies.items()]
        new.sort()
        return new


class Oracle:
    def __init__(self, g):
        self.g, self.shape = g, Shape(g)
        self.stuck = 2 ** g["counter_bits"]
        self.range = g["buckets"] * 2 ** g["remainder_bits"]
        self.permutations = [Permutation(i, self.range) for i in range(g["tables"])]
        self.tables = [[Bucket() for _ in range(g["buckets"])] for _ in range(g["tables"])]
        self.moved = 0

    def all_cells(self):
        return [cell for table in self.tables for bucket in table for cell in bucket.cells]

    @property
    def keys(self):
        return sum(copies for _, copies in self.all_cells())

    @property
    def saturated(self):
        return sum(copies == self.stuck for _, copies in self.all_cells())

    def places(self, h):
        """(subtable, bucket, string r_i z)."""
        r = self.shape.least
        b, rest = digits(h, self.g["buckets"])
        string = letters(rest, self.shape.most)
        print_, z = b * 2**r + int(string[:r], 2), string[r:]
        found = []
        for i, permutation in enumerate(self.permutations):
            bucket, remainder = divmod(permutation.there(print_), 2**r)
            found.append((i, bucket, format(remainder, f"0{r}b") + z))
        return found

    def matches(self, h):
        """The cells that match: the key's string begins with theirs. Each with its bucket."""
        found = []
        for i, b, string in self.places(h):
            bucket = self.tables[i][b]
            found += [(bucket, cell) for cell in bucket.cells if string.startswith(cell[0])]
        return found

    def longest(self, matches):
        """The longest match; of several with the same length, one that is not saturated."""
        return max(matches, key=lambda match: (len(match[1][0]), match[1][1] < self.stuck))

    def has(self, h):
        return bool(self.matches(h))

    def count(self, h):
        copies = [cell[1] for _, cell in self.matches(h)]
        return "many" if self.stuck in copies else sum(copies)

    def is_open(self, cell):
        return cell[1] + 1 < self.stuck

    def add(self, h):
        matches = self.matches(h)
        if not self.can_count(matches) and len(matches) < MOST_CELLS and self.is_full(h):
            self.make_room(h)
            matches = self.matches(h)
        open_ = [match for match in matches if self.is_open(match[1])]
        if any(cell[1] == self.stuck for _, cell in matches):
            return "ok"
        if open_:
            self.change(*self.longest(open_), +1)
        elif len(matches) < MOST_CELLS and not self.is_full(h):
            i, b, string = min(self.places(h), key=lambda p: len(self.tables[p[0]][p[1]].cells))
            self.tables[i][b].put(self.shape, string)
        elif matches:
            bucket, cell = self.longest(matches)
            self.change(bucket, cell, self.stuck - cell[1])
        else:
            return "full"
        return "ok"

    def can_count(self, matches):
        return any(cell[1] == self.stuck or self.is_open(cell) for _, cell in matches)

    def is_full(self, h):
        return all(len(self.tables[i][b].cells) == self.shape.cells for i, b, _ in self.places(h))

    def make_room(self, h):
        for i, b, _ in self.places(h):
            less = self.tables[i][b].squeezed(self.shape, self.stuck)
            if len(less.cells) < self.shape.cells:
                self.tables[i][b] = less
                return

    @staticmethod
    def change(bucket, cell, difference):
        cell[1] += difference
        bucket.sort()

    def remove(self, h):
        matches = self.matches(h)
        if not matches:
            return "absent"
        if self.count(h) == "many":
            return "saturated"
        bucket, cell = self.longest(matches)
        if cell[1] == 1:
            bucket.take(cell)
        else:
            self.change(bucket, cell, -1)
        return "ok"

    def structure(self):
        return [[(bucket.level, [tuple(cell) for cell in bucket.cells]) for bucket in table]
                for table in self.tables]


# ---------------------------------------------------------------------- from a body

def read_bucket(bits, at, g, shape):
    """(level, cells); with two lengths the level is always 0."""
    end = at + 8 * g["bucket_bytes"]
    code = bits.get(end - shape.code_bits, shape.code_bits)
    if shape.is_one:
        level, n, zeros = shape.triples[code]
        widths = [shape.length(level)] * n
        implied = ["0"] * zeros + ["1"] * (n - zeros)
    else:
        level, (n, long) = 0, shape.pairs[code >> 10]
        short = shape.least + (code >> 5) % 32
        widths, implied = [short] * (n - long) + [shape.least + code % 32] * long, [""] * n
    cells = []
    for width, first in zip(widths, implied):
        stored = width - len(first)
        copies = 1 + bits.get(at, shape.c)
        cells.append((first + format(bits.get(at + shape.c, stored), f"0{stored}b"), copies))
        at += shape.c + stored
    assert bits.get(at, end - shape.code_bits - at) == 0, "bits behind the last cell"
    return level, cells


def read(g, body):
    bits, shape, size = Bits(body), Shape(g), 8 * g["bucket_bytes"]
    tables = [[read_bucket(bits, (i * g["buckets"] + b) * size, g, shape)
               for b in range(g["buckets"])] for i in range(g["tables"])]
    assert bits.rest_is_zero(g["tables"] * g["buckets"] * size), "bits behind the last bucket"
    return tables
