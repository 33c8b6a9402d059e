"""For all oracles: how a hash is used, and how bits are read from a body.

The papers use random functions. The library chooses which ones (docs/format.md). These functions are
repeated here, so that both sides see the same buckets and fingerprints. Everything else is in the
files of the kinds, written from the papers.
"""
from math import gcd

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def mix64(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD
    return x ^ x >> 31


def remix(h, i):
    """Hash number i that is derived from a hash."""
    c = (h + (i + 1) * GOLDEN) % WORD
    product = c * (c ^ 0xD1342543DE82EF95)
    return product // WORD ^ product % WORD


def digits(h, *ranges):
    """Read a hash as a fraction of 2^64. Returns a digit for each range, and the rest of the hash."""
    found = []
    for n in ranges:
        found.append(h * n // WORD)
        h = h * n % WORD
    return *found, h


def letters(h, n):
    """The first n bits of a hash, as letters 0 and 1."""
    return format(h, "064b")[:n]


class Permutation:
    """P_i of the numbers below n: a multiplication by the first factor that has an inverse."""

    def __init__(self, i, n):
        self.n = n
        self.factor = mix64((i + 1) * GOLDEN % WORD) * n // WORD
        while gcd(self.factor, n) != 1:
            self.factor = (self.factor + 1) % n

    def there(self, x):
        return x * self.factor % self.n

    def back(self, y):
        return y * pow(self.factor, -1, self.n) % self.n


class Bits:
    """A body as a string of bits. The lowest bit of the first byte comes first."""

    def __init__(self, body):
        self.number, self.size = int.from_bytes(body, "little"), 8 * len(body)

    def get(self, at, n):
        assert at + n <= self.size, "outside the body"
        return self.number >> at & (1 << n) - 1

    def rest_is_zero(self, at):
        return self.number >> at == 0


def bits_for(n):
    """How many bits a number below n needs."""
    return (n - 1).bit_length()
