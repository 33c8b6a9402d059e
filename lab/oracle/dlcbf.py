"""The d-left counting Bloom filter (ESA 2006, sections 3 and 5.2), as plain lists.

Where the library differs from the paper, and why:

  - a remainder is never 0, which marks an empty cell; the paper does not say how it marks one;
  - the paper's counters count to 4, and it assumes that more copies do not occur. Here further copies take
    further cells, up to 4; when all of them are full, the fingerprint is saturated and stays;
  - `moves`: the paper moves "an element" of the first bucket; here it is the first one that can move;
  - with counters of no bits a fingerprint is stored once, and nothing is removed.
"""
from common import Bits, Permutation, digits

MOST_CELLS = 4


class Oracle:
    def __init__(self, g):
        self.g = g
        self.r = g["remainder_bits"]
        self.full = 2 ** g["counter_bits"]
        self.most = 1 if g["counter_bits"] == 0 else MOST_CELLS * self.full
        n = g["buckets"] * 2**self.r
        self.permutations = [Permutation(i, n) for i in range(g["tables"])]
        self.tables = [[[] for _ in range(g["buckets"])] for _ in range(g["tables"])]
        self.keys = self.saturated = self.moved = 0

    def fingerprint(self, h):
        bucket, q, _ = digits(h, self.g["buckets"], 2**self.r - 1)
        return bucket * 2**self.r + q + 1

    def places(self, f):
        """The bucket and the remainder in each subtable: the high and the low part of P_i(f)."""
        found = []
        for table, permutation in zip(self.tables, self.permutations):
            bucket, remainder = divmod(permutation.there(f), 2**self.r)
            found.append((table[bucket], remainder))
        return found

    def cells(self, f):
        """All cells of a fingerprint: [remainder, copies], each with its bucket."""
        return [(bucket, cell) for bucket, remainder in self.places(f) for cell in bucket
                if cell[0] == remainder]

    @staticmethod
    def the_one(cells):
        """Of several cells, one that is not full; otherwise the first."""
        least = min(cell[1] for _, cell in cells)
        return next(pair for pair in cells if pair[1][1] == least)

    def least_loaded(self, f):
        """The leftmost of the least loaded buckets."""
        return min(self.places(f), key=lambda place: len(place[0]))

    def has(self, h):
        return bool(self.cells(self.fingerprint(h)))

    def count(self, h):
        copies = sum(cell[1] for _, cell in self.cells(self.fingerprint(h)))
        return "many" if copies >= self.most else copies

    def add(self, h):
        f = self.fingerprint(h)
        cells = self.cells(f)
        copies = sum(cell[1] for _, cell in cells)
        if copies >= self.most:
            return "ok"
        if copies < len(cells) * self.full:
            self.the_one(cells)[1][1] += 1
        elif not self.new_cell(f):
            return "full"
        self.keys += 1
        self.saturated += copies + 1 == self.most > 1
        return "ok"

    def new_cell(self, f):
        bucket, remainder = self.least_loaded(f)
        if len(bucket) == self.g["cells"]:
            if self.g["moves"] == 0 or not self.make_room(f):
                return False
            bucket, remainder = self.places(f)[0]
        bucket.append([remainder, 1])
        return True

    def make_room(self, f):
        """Move a cell of the first bucket to another one of its own buckets."""
        first = self.permutations[0].there(f) >> self.r
        full = self.tables[0][first]
        for i, (remainder, copies) in enumerate(full):
            other = self.permutations[0].back(first * 2**self.r + remainder)
            bucket, its_remainder = self.least_loaded(other)
            if len(bucket) < self.g["cells"]:
                bucket.append([its_remainder, copies])
                self.take(full, i)
                self.moved += 1
                return True
        return False

    @staticmethod
    def take(bucket, i):
        """Remove a cell; the last one takes its place."""
        bucket[i] = bucket[-1]
        bucket.pop()

    def remove(self, h):
        f = self.fingerprint(h)
        cells = self.cells(f)
        if not cells:
            return "absent"
        if sum(cell[1] for _, cell in cells) >= self.most:
            return "saturated"
        bucket, cell = self.the_one(cells)
        cell[1] -= 1
        if cell[1] == 0:
            self.take(bucket, bucket.index(cell))
        self.keys -= 1
        return "ok"

    def structure(self):
        return [[[tuple(cell) for cell in bucket] for bucket in table] for table in self.tables]


def read(g, body):
    """Read the same structure from a body."""
    bits, r, c = Bits(body), g["remainder_bits"], g["counter_bits"]
    tables, at = [], 0
    for _ in range(g["tables"]):
        tables.append([])
        for _ in range(g["buckets"]):
            cells = [(bits.get(at + i * (r + c), r), 1 + bits.get(at + i * (r + c) + r, c))
                     for i in range(g["cells"])]
            used = sum(cell[0] != 0 for cell in cells)
            assert all(cell == (0, 1) for cell in cells[used:]), "cells behind an empty one"
            tables[-1].append(cells[:used])
            at += 8 * g["bucket_bytes"]
    assert bits.rest_is_zero(at), "bits behind the last bucket"
    return tables
