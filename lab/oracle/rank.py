"""Rank-indexed hashing (ICNP 2008, section III), as chains that are plain lists.

The index and the packed cells of a bucket are computed from the chains, level by level, only to
be compared: I0 has a bit for each chain, I1, I2, ... one for each cell of the level before.

Where the library differs from the paper, and why:

  - counting: the paper adds 2 bits to a cell. Here copies beyond what one cell counts take further
    cells of the chain, up to `copies`; when all of them are full, the fingerprint is saturated and stays;
  - with `copies` = 1 a fingerprint is stored once, and nothing is removed;
  - an extension goes back to its pool when the bucket does not need it any more.
"""
from common import Bits, digits


class Oracle:
    def __init__(self, g):
        self.g = g
        self.full = 2 ** g["counter_bits"]
        self.most = g["copies"] * self.full
        self.buckets = [[[] for _ in range(g["chains"])] for _ in range(g["buckets"])]
        self.keys = self.saturated = self.moved = 0

    def place(self, h):
        bucket, chain, remainder, _ = digits(h, self.g["buckets"], self.g["chains"],
                                             2 ** self.g["remainder_bits"])
        return bucket, self.buckets[bucket][chain], remainder

    @staticmethod
    def load(bucket):
        return sum(map(len, bucket))

    def extensions(self):
        """How many buckets have a second and a third part."""
        g, loads = self.g, [self.load(bucket) for bucket in self.buckets]
        return (sum(load > g["cells"] for load in loads),
                sum(load > g["cells"] + g["cells2"] for load in loads))

    def has_room(self, bucket):
        """Is there room for one more cell? It may need an extension, and all of them may be in use."""
        g, load, taken = self.g, self.load(self.buckets[bucket]), self.extensions()
        if load == g["cells"]:
            return taken[0] < g["extensions2"]
        if load == g["cells"] + g["cells2"]:
            return taken[1] < g["extensions3"]
        return load < g["cells"] + g["cells2"] + g["cells3"]

    @staticmethod
    def mine(chain, remainder):
        return [cell for cell in chain if cell[0] == remainder]

    def copies(self, h):
        _, chain, remainder = self.place(h)
        return sum(cell[1] for cell in self.mine(chain, remainder))

    def has(self, h):
        return self.copies(h) > 0

    def count(self, h):
        return "many" if self.copies(h) >= self.most else self.copies(h)

    def add(self, h):
        bucket, chain, remainder = self.place(h)
        cells, copies = self.mine(chain, remainder), self.copies(h)
        if copies >= self.most:
            return "ok"
        if copies < len(cells) * self.full:
            min(cells, key=lambda cell: cell[1])[1] += 1
        elif self.has_room(bucket):
            self.append(chain, [remainder, 1])
        else:
            return "full"
        self.keys += 1
        self.saturated += copies + 1 == self.most > 1
        return "ok"

    @staticmethod
    def append(chain, cell):
        chain.append(cell)

    def remove(self, h):
        _, chain, remainder = self.place(h)
        if not self.has(h):
            return "absent"
        if self.copies(h) >= self.most:
            return "saturated"
        cell = min(self.mine(chain, remainder), key=lambda cell: cell[1])
        cell[1] -= 1
        if cell[1] == 0:  # the last cell of the chain takes its place
            chain[chain.index(cell)] = chain[-1]
            chain.pop()
        self.keys -= 1
        return "ok"

    def structure(self):
        return [packed(bucket) for bucket in self.buckets], self.extensions()


def packed(chains):
    """(I0, the higher index, cells) of a bucket."""
    base = [int(len(chain) > 0) for chain in chains]
    index, cells = [], []
    for level in range(max(map(len, chains))):
        for chain in chains:
            if len(chain) > level:
                cells.append(tuple(chain[level]))
                index.append(int(len(chain) > level + 1))
    return base, index, cells


# ---------------------------------------------------------------------- from a body

def aligned(g, bits):
    """The bits of a record."""
    if not g["aligned"]:
        return bits
    return -(-bits // 512) * 512 if bits >= 512 else 1 << (bits - 1).bit_length() if bits > 1 else bits


class Layout:
    """Where the three arrays and the two bitmaps are."""

    def __init__(self, g):
        self.g = g
        self.cell = g["remainder_bits"] + g["counter_bits"] + g["value_bits"]
        self.rooms = [g["cells"], g["cells2"], g["cells3"]]
        self.counts = [g["buckets"], g["extensions2"], g["extensions3"]]
        self.pointers = [g["extensions2"].bit_length(), g["extensions3"].bit_length(), 0]
        self.starts, self.records, at = [], [], 0
        for part in range(3):
            bits = self.rooms[part] * (1 + self.cell) + self.pointers[part]
            self.records.append(aligned(g, bits + (g["chains"] if part == 0 else 0)))
            self.starts.append(at)
            at += self.counts[part] * self.records[part]
            if g["aligned"]:
                at = -(-at // 512) * 512
        self.maps, self.end = [at, at + g["extensions2"]], at + g["extensions2"] + g["extensions3"]


def read_bucket(bits, layout, bucket):
    """The base index of a bucket, and the higher index and the cells of all its parts, with the bits after them."""
    g, index, cells, parts = layout.g, [], [], []
    at, head = layout.starts[0] + bucket * layout.records[0], g["chains"]
    base = [bits.get(at + i, 1) for i in range(g["chains"])]
    for part in range(3):
        pointer = bits.get(at + head, layout.pointers[part])
        at += head + layout.pointers[part]
        room = layout.rooms[part]
        index += [bits.get(at + i, 1) for i in range(room)]
        cells += [bits.get(at + room + i * layout.cell, layout.cell) for i in range(room)]
        if pointer == 0:
            break
        parts.append(pointer - 1)
        at, head = layout.starts[part + 1] + (pointer - 1) * layout.records[part + 1], 0
    return base, index, cells, parts


def read(g, body):
    bits, layout = Bits(body), Layout(g)
    buckets, taken = [], [[], []]
    for bucket in range(g["buckets"]):
        base, index, cells, parts = read_bucket(bits, layout, bucket)
        load, level = 0, sum(base)
        while level:
            load, level = load + level, sum(index[load:load + level])
        assert not any(index[load:]) and not any(cells[load:]), "bits are set after the last cell"
        r, c = g["remainder_bits"], g["counter_bits"]
        buckets.append((base, index[:load], [(cell % 2**r, 1 + (cell >> r) % 2**c)
                                             for cell in cells[:load]]))
        for part, number in enumerate(parts):
            taken[part].append(number)
    for part in range(2):
        marked = [i for i in range(layout.counts[part + 1]) if bits.get(layout.maps[part] + i, 1)]
        assert sorted(taken[part]) == marked, "extensions are in use, but belong to no bucket"
    assert bits.rest_is_zero(layout.end), "bits behind the last bitmap"
    return buckets, (len(taken[0]), len(taken[1]))
