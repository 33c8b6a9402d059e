"""The d-left Bloom filter with dynamic bit reassignment (Allerton 2006, section II).

A bucket is a list of fingerprints, here with all bits that the hash has. What the library stores of
them is cut from that for each comparison. The result is the same, since lengths only become shorter.

Where the library differs from the paper, and why:

  - a fingerprint has at most 56 bits, and no more than the hash leaves;
  - in a group, all bits, including those that semi-sorting saves, are divided by the number of cells; of
    the remaining bits, the first buckets get one more per cell. The paper divides before it adds the saved
    bits; then a fingerprint would have to become longer when its bucket reaches a load that is sorted;
  - balanced: the keys are placed again ten times, and ties go to the left; the paper does not say how it
    breaks ties.
"""
from functools import lru_cache
from itertools import product

from common import Bits, bits_for, digits, letters, remix

ROUNDS = 11


def sorted_bits(g, load):
    return g["sorting"] >> 2 * load & 3


@lru_cache
def codes_of(cells, sorting):
    """All meanings of codes, in order: the number of cells, and where the parts with equal first bits end."""
    codes = []
    for load in range(cells + 1):
        free = {0: 0, 1: 1, 2: 3}[sorting >> 2 * load & 3]
        ends = [split[::-1] for split in product(range(load + 1), repeat=free)
                if list(split) == sorted(split, reverse=True)]
        codes += [(load, split) for split in sorted(ends, key=lambda split: split[::-1])]
    return codes


def all_codes(g):
    return codes_of(g["cells"], g["sorting"])


def lengths(g, loads):
    """The lengths of the fingerprints in the buckets of a block."""
    data = g["group"] * (g["bucket_bits"] - bits_for(len(all_codes(g))))
    longest = min(56, 64 - bits_for(g["buckets"]))
    cells = sum(loads)
    bits = data + sum(load * sorted_bits(g, load) for load in loads)
    if cells == 0 or bits // cells >= longest:
        return [longest] * len(loads)
    left, found = bits % cells, []
    for load in loads:
        left -= load
        found.append(bits // cells + (g["group"] > 1 and left >= 0))
    return found


class Oracle:
    def __init__(self, g):
        self.g = g
        self.longest = min(56, 64 - bits_for(g["buckets"]))
        self.tables = [[[] for _ in range(g["buckets"])] for _ in range(g["tables"])]
        self.saturated = self.moved = 0

    @property
    def keys(self):
        return sum(len(bucket) for table in self.tables for bucket in table)

    def places(self, h):
        """(subtable, bucket, fingerprint)."""
        found = []
        for i in range(self.g["tables"]):
            bucket, rest = digits(remix(h, i), self.g["buckets"])
            found.append((i, bucket, letters(rest, self.longest)))
        return found

    def length(self, i, bucket):
        first = bucket - bucket % self.g["group"]
        block = self.tables[i][first:first + self.g["group"]]
        return lengths(self.g, [len(b) for b in block])[bucket - first]

    def has(self, h):
        for i, bucket, print_ in self.places(h):
            length = self.length(i, bucket)
            if print_[:length] in [other[:length] for other in self.tables[i][bucket]]:
                return True
        return False

    def least_loaded(self, h, load):
        """The leftmost of the least loaded buckets, if it has room."""
        i, bucket, print_ = min(self.places(h), key=lambda place: load(place[0], place[1]))
        return (i, bucket, print_) if load(i, bucket) < self.g["cells"] else None

    def add(self, h):
        if self.has(h):
            return "ok"
        place = self.least_loaded(h, lambda i, bucket: len(self.tables[i][bucket]))
        if place is None:
            return "full"
        i, bucket, print_ = place
        self.tables[i][bucket].append(print_)
        return "ok"

    def add_balanced(self, hashes):
        """Add keys that are all known in advance. Returns how many were added until there was no room."""
        loads = {(i, b): len(bucket) for i, table in enumerate(self.tables)
                 for b, bucket in enumerate(table)}
        new = [not self.has(h) for h in hashes]
        where = [None] * len(hashes)
        for _ in range(ROUNDS):
            for k, h in enumerate(hashes):
                if not new[k]:
                    continue
                if where[k] is not None:
                    loads[where[k][:2]] -= 1
                where[k] = self.least_loaded(h, lambda i, bucket: loads[i, bucket])
                if where[k] is not None:
                    loads[where[k][:2]] += 1
        for k, h in enumerate(hashes):
            if new[k] and self.store(h, where[k]) == "full":
                return k
        return len(hashes)

    def store(self, h, place):
        if place is None or len(self.tables[place[0]][place[1]]) >= self.g["cells"]:
            return self.add(h)
        if not self.has(h):  # another of these keys may have the same fingerprint
            self.tables[place[0]][place[1]].append(place[2])
        return "ok"

    def structure(self):
        return [[sorted(print_[:self.length(i, b)] for print_ in bucket)
                 for b, bucket in enumerate(table)] for i, table in enumerate(self.tables)]


def read_bucket(bits, at, length, load, ends, sorted_):
    """The fingerprints of a bucket. Their first bits are not stored: they follow from the ends of the parts."""
    cells = []
    for cell in range(load):
        part = sum(end <= cell for end in ends)
        stored = bits.get(at + cell * (length - sorted_), length - sorted_)
        cells.append(format(part << length - sorted_ | stored, f"0{length}b"))
    assert cells == sorted(cells), "cells out of order"
    return cells


def read(g, body):
    bits, codes = Bits(body), all_codes(g)
    width, group, tables, at = bits_for(len(codes)), g["group"], [], 0
    for _ in range(g["tables"]):
        tables.append([])
        for _ in range(g["buckets"] // group):
            heads = [codes[bits.get(at + i * width, width)] for i in range(group)]
            cell = at + group * width
            for (load, ends), length in zip(heads, lengths(g, [load for load, _ in heads])):
                sorted_ = sorted_bits(g, load)
                tables[-1].append(read_bucket(bits, cell, length, load, ends, sorted_))
                cell += load * (length - sorted_)
            at += group * g["bucket_bits"]
            assert bits.get(cell, at - cell) == 0, "bits behind the last cell"
    assert bits.rest_is_zero(at), "bits behind the last block"
    return tables
