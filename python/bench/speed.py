"""The speed of the package beside `set` and beside other filters for Python, in one run.

usage: PYTHONPATH=build/python python3 python/bench/speed.py [KEYS]     keys of the batches, a million by default

Times are CPU time per key, the best of several runs. Peers: flor (Debian's python3-flor) and pybloom_live if they are
installed, and a Bloom filter in a few lines of pure Python, as it stands in many scripts. The batch calls of the C library
itself are measured on the same keys, through ctypes, if its libtamis.so is in the folder above the package's.
"""
import ctypes
import hashlib
import importlib
import math
import pathlib
import random
import sys
import tempfile
import time

import numpy as np

import tamis

FPR = 0.001


class PureBloom:
    """The Bloom filter that people write: a bytearray, and a hash cut into positions."""

    def __init__(self, capacity):
        self.m = math.ceil(-capacity * math.log(FPR) / math.log(2) ** 2)
        self.k = round(self.m / capacity * math.log(2))
        self.bits = bytearray(self.m // 8 + 1)

    def positions(self, key):
        digest = hashlib.blake2b(str(key).encode(), digest_size=16).digest()
        a, b = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
        return [(a + i * b) % self.m for i in range(self.k)]

    def add(self, key):
        for at in self.positions(key):
            self.bits[at >> 3] |= 1 << (at & 7)

    def __contains__(self, key):
        return all(self.bits[at >> 3] >> (at & 7) & 1 for at in self.positions(key))


class Flor:
    """flor takes bytes."""

    def __init__(self, capacity):
        self.filter = importlib.import_module("flor").BloomFilter(n=capacity, p=FPR)

    def add(self, key):
        self.filter.add(str(key).encode())

    def __contains__(self, key):
        return str(key).encode() in self.filter


def pybloom(capacity):
    return importlib.import_module("pybloom_live").BloomFilter(capacity, FPR)


def best(call, runs=7):
    """Nanoseconds of CPU time."""
    times = []
    for _ in range(runs):
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return min(times)


def look_up(container, keys):
    for key in keys:
        key in container


def nothing(keys):
    for key in keys:
        pass


def single_lookups():
    """`in` on 10^5 keys that are there, with the time of the loop itself taken off."""
    chance = random.Random(1)
    print(f"{'single `in`, 10^5 keys':28}{'set':>10}{'tamis.Set':>12}{'times':>8}")
    for name, make in (("int", lambda n: n), ("str", lambda n: f"key/{n}"), ("bytes", lambda n: b"key/%d" % n)):
        keys = [make(chance.getrandbits(40)) for _ in range(100_000)]
        others = set(keys)
        ours = tamis.Set(keys, fpr=FPR)
        loop = best(lambda: nothing(keys), 15)
        a, b = (best(lambda c=c: look_up(c, keys), 15) - loop for c in (others, ours))
        print(f"  {name:26}{a / 1e5:7.1f} ns{b / 1e5:9.1f} ns{b / a:8.2f}")


def add_all(container, keys):
    for key in keys:
        container.add(key)


def ask_all(container, keys):
    """A loop that keeps its answers, as a batch does."""
    return [key in container for key in keys]


def c_library(array, n):
    """The two batch calls of C for an array, with nothing of Python around them. None: the library is not there."""
    path = pathlib.Path(tamis.__file__).parents[2] / "libtamis.so"
    if not path.exists():
        return None
    library, handle = ctypes.CDLL(str(path)), ctypes.c_void_p()
    with tempfile.NamedTemporaryFile() as file:
        tamis.Set(capacity=n, fpr=FPR).save(file.name)
        library.tamis_open(file.name.encode(), None, ctypes.byref(handle), None)
    keys, has = ctypes.c_void_p(array.ctypes.data), ctypes.create_string_buffer(n)

    def add():
        library.tamis_clear(handle)
        library.tamis_add_id_batch(handle, keys, ctypes.c_size_t(n), None)

    return best(add), best(lambda: library.tamis_has_id_batch(handle, keys, ctypes.c_size_t(n), has))


def batches(n):
    """Adding and asking n ints: a loop of single calls, a list, a numpy array."""
    array = np.random.default_rng(1).integers(0, 2**63, n)
    listed = array.tolist()
    ours = tamis.Set(capacity=n, fpr=FPR)

    def added(keys, how):
        ours.clear()
        how(keys)

    def both(keys, add, ask, runs=7):
        return best(lambda: added(keys, add), runs), best(lambda: ask(keys), runs)

    def add_each(keys):
        add_all(ours, keys)

    def ask_each(keys):
        return ask_all(ours, keys)

    rows = {"a loop over a numpy array": both(array, add_each, ask_each, 3),
            "a loop over a list": both(listed, add_each, ask_each, 3),
            "a list": both(listed, ours.update, ours.contains),
            "a numpy array": both(array, ours.update, ours.contains),
            "the C library alone": c_library(array, n),
            "set, a loop": (best(lambda: add_all(set(), listed), 3), best(lambda s=set(listed): ask_all(s, listed), 3))}
    if rows["the C library alone"] is None:
        print("  (libtamis.so is not there)")
        del rows["the C library alone"]
    few = listed[: n // 10]
    for name, make in (("pure Python Bloom", PureBloom), ("flor", Flor), ("pybloom_live", pybloom)):
        try:
            peer = make(n)
        except ImportError:
            print(f"  ({name} is not installed)")
            continue
        rows[f"{name}, a loop"] = (best(lambda: add_all(peer, few), 1) * 10, best(lambda: ask_all(peer, few), 1) * 10)
    fastest = rows["a numpy array"]
    print(f"\n{f'{n} ints':28}{'add':>12}{'ask':>12}{'beside the numpy batch':>26}")
    for name, (add, ask) in rows.items():
        print(f"  {name:26}{add / n:9.1f} ns{ask / n:9.1f} ns{add / fastest[0]:16.1f} {ask / fastest[1]:9.1f}")


if __name__ == "__main__":
    single_lookups()
    batches(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
