"""No leak in a million calls."""
import gc
import io
import os
import pickle
import resource

import numpy as np

import tamis
from arrow_double import ArrowArray
from conftest import SEED


def held():
    """Bytes of data memory of this process. The resident part varies, since the system decides about it."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * resource.getpagesize()


def grows_by(call, times, warm):
    for _ in range(warm):
        call()
    gc.collect()
    before = held()
    for _ in range(times):
        call()
    gc.collect()
    return held() - before


# The sanitizer keeps freed memory for a while, so the memory of a process grows.
ROOM = 2 << 20 if "asan" not in os.environ.get("LD_PRELOAD", "") else 1 << 30


def test_a_million_single_calls_leak_nothing():
    s = tamis.Counter(capacity=1000, seed=SEED)
    t = tamis.States(values=4, capacity=1000, seed=SEED)
    text, large = "k" * 40, 2**63 + 5

    def one():
        s.add(text)
        s.add(large)
        text in s, large in s, s[text], len(s)
        s.discard(text)
        s.remove(large)
        t[text] = 1
        t.get(text), t.get("x"), t.drop(text)
        try:
            s.remove("absent")
        except KeyError:
            pass

    assert grows_by(one, 100_000, 1000) < ROOM  # ten calls each


def test_batches_objects_and_errors_leak_nothing():
    numbers, words = np.arange(50), [f"w{i}" for i in range(50)]
    arrow = ArrowArray("l", [numbers.tobytes()], 50)

    def one():
        s = tamis.Counter(capacity=200, seed=SEED)
        for source in (numbers, words, iter(words), arrow):
            s.update(source)
            s.contains(source)
            s.counts(source)
            s.remove_all(source)
        pickle.loads(pickle.dumps(s)) | s
        s.info
        for wrong in (["a", None], np.array([1.5]), "one", 5):
            try:
                s.update(wrong)
            except TypeError:
                pass
        try:
            tamis.Set(capacity="x")
        except ValueError:
            pass
        try:
            tamis.Set.from_bytes(io.BytesIO(b"nonsense").read())
        except ValueError:
            pass

    assert grows_by(one, 1500, 200) < ROOM


def test_references_are_given_back():
    import sys

    s = tamis.Set(capacity=1000)
    key, keys = "a key of its own", [f"key {i}" for i in range(300)]
    before = sys.getrefcount(key), sys.getrefcount(keys[0]), sys.getrefcount(keys)
    for _ in range(10):
        s.add(key), key in s, s.discard(key), s.update(keys), s.remove_all(keys), s.contains(keys)
    assert (sys.getrefcount(key), sys.getrefcount(keys[0]), sys.getrefcount(keys)) == before
    types = sys.getrefcount(tamis.Set)
    for _ in range(100):
        s.copy()
    assert abs(sys.getrefcount(tamis.Set) - types) < 5
