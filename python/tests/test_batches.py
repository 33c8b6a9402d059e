"""Every source of a batch gives the answers of single calls."""
import array
import itertools

import numpy as np
import pytest

import tamis
from arrow_double import ArrowArray, ArrowStream
from conftest import SEED

RANDOM = np.random.default_rng(7)
NUMBERS = RANDOM.integers(-(2**63), 2**63 - 1, 3000)
WORDS = [f"path/{n}/é" if n % 3 else f"p{n}" for n in range(3000)]
FEW = NUMBERS[:50]


def sources_of_integers():
    """The same integers in every form, each with the list of Python ints it means."""
    for kind in "bhilqBHILQ":
        values = [int(v) for v in np.array(NUMBERS).astype(kind)]
        yield f"array.array {kind}", array.array(kind, values), values
    for kind in ("i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8",
                 ">u8", "?"):
        values = np.array(NUMBERS).astype(kind)
        yield f"numpy {kind}", values, [int(v) for v in values]
    wide = np.array(NUMBERS)
    yield "every third", wide[::3], wide[::3].tolist()
    yield "backwards", wide[::-1], wide[::-1].tolist()
    yield "a field", np.rec.fromarrays([wide, wide]).f0, wide.tolist()
    yield "unaligned", np.frombuffer(b"x" + wide.tobytes(), "u1")[1:].view("i8"), wide.tolist()
    yield "read-only", memoryview(wide.tobytes()).cast("q"), wide.tolist()
    for code, kind in zip("cCsSiIlL", ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")):
        values = wide.astype(kind)
        yield f"arrow {code}", ArrowArray(code, [values.tobytes()], len(values)), [int(v) for v in values]
        yield (f"arrow {code} sliced", ArrowArray(code, [values.tobytes()], 100, offset=33),
               [int(v) for v in values[33:133]])


def sources_of_text():
    """The same words in every form, each with the list of str or bytes it means."""
    coded = [word.encode() for word in WORDS]
    yield "tuple", tuple(WORDS), WORDS
    yield "iterator", iter(WORDS), WORDS
    yield "generator", (word for word in WORDS), WORDS
    yield "dict", dict.fromkeys(WORDS), WORDS
    yield "numpy U", np.array(WORDS), WORDS
    yield "numpy >U", np.array(WORDS).astype(">U20"), WORDS
    yield "numpy S", np.array(coded), coded
    yield "numpy S, every other", np.array(coded)[::2], coded[::2]
    yield "numpy O", np.array(WORDS, dtype=object), WORDS
    digests = [bytes([i % 256, 1, 0, 0]) for i in range(300)]
    yield "numpy V", np.frombuffer(b"".join(digests), "V4"), digests
    offsets = list(itertools.accumulate(map(len, coded), initial=0))
    for code, kind in (("u", "i4"), ("z", "i4"), ("U", "i8"), ("Z", "i8")):
        buffers = [np.array(offsets, kind).tobytes(), b"".join(coded)]
        yield f"arrow {code}", ArrowArray(code, buffers, len(coded)), coded
        yield f"arrow {code} sliced", ArrowArray(code, buffers, 100, offset=7), coded[7:107]
    yield "arrow w", ArrowArray("w:4", [b"".join(digests)], 299, offset=1), digests[1:]
    yield "arrow vu", ArrowArray.of_views(coded), coded
    chunks = [ArrowArray("u", [np.array([0, 1, 3], "i4").tobytes(), b"abc"], 2),
              ArrowArray("u", [np.array([0], "i4").tobytes(), b""], 0),
              ArrowArray("u", [np.array([0, 4], "i4").tobytes(), b"long"], 1)]
    yield "arrow stream", ArrowStream(chunks), ["a", "bc", "long"]


SOURCES = [*sources_of_integers(), *sources_of_text()]


@pytest.mark.parametrize("source, keys", [s[1:] for s in SOURCES], ids=[s[0] for s in SOURCES])
def test_every_source_adds_what_single_calls_add(source, keys):
    by_batch = tamis.Set(capacity=4000, copies=8, kind="line", geometry="counter_bits=16", seed=SEED)
    one_by_one = tamis.Set(like=by_batch)
    by_batch.update(source)
    for key in keys:
        one_by_one.add(key)
    assert bytes(by_batch) == bytes(one_by_one) and len(by_batch) == len(keys)


# An iterator can be used only once; the other sources are used for lookups, too.
AGAIN = [s for s in SOURCES if not hasattr(s[1], "__next__") and s[0] != "arrow stream"]


@pytest.mark.parametrize("source, keys", [s[1:] for s in AGAIN], ids=[s[0] for s in AGAIN])
def test_every_source_is_answered_as_single_calls_are(source, keys):
    s = tamis.Counter(keys[: len(keys) // 2], capacity=4000, fpr=1e-9, seed=SEED)
    answers = s.contains(source)
    assert answers.dtype == bool and answers.tolist() == [key in s for key in keys]
    counts = s.counts(source)
    assert counts.dtype == np.uint64 and counts.tolist() == [s[key] for key in keys]
    single = s.copy()
    assert s.remove_all(source).tolist() == [single.discard(key) for key in keys]
    assert bytes(s) == bytes(single)
    s, single = (tamis.Set(capacity=4000, fpr=1e-9, seed=SEED) for _ in range(2))
    assert s.update_new(source).tolist() == [single.add_new(key) for key in keys]


def test_lists_may_mix_all_sorts_of_keys():
    mixed = [1, "a", b"b", 2, 3, bytearray(b"c"), np.int32(-5), "d", memoryview(b"e")] * 30
    s = tamis.Counter(mixed, capacity=100, fpr=1e-9, seed=SEED)
    assert s.counts([1, "a", "b", 2, 3, "c", -5, "d", "e", "f"]).tolist() == [30] * 9 + [0]


def test_long_lists_are_done_in_parts():
    s = tamis.Set(capacity=200000, fpr=1e-9, seed=SEED)
    s.update(list(range(100000)))
    s.update([str(i) for i in range(50000)])
    assert len(s) == 150000 and s.contains(range(100000)).all()
    assert s.contains([str(i) for i in range(60000)]).sum() == 50000


def test_empty_batches_do_nothing(small):
    for nothing in ([], (), iter(()), np.array([], "i8"), np.array([], "S4"), ArrowArray("l", [b""], 0)):
        small.update(nothing)
        assert len(small.contains(nothing)) == 0
    assert len(small) == 0


@pytest.mark.parametrize("one", ["apple", b"apple", bytearray(b"apple")])
def test_one_key_in_place_of_many_is_refused(small, one):
    with pytest.raises(TypeError, match="expected many keys"):
        small.update(one)


@pytest.mark.parametrize(
    "wrong",
    [np.array([1.5]), np.zeros((2, 2), "i8"), np.array([1 + 1j]), [1, None], 5, None,
     np.array(["2020-01-01"], "M8[D]"), ArrowArray("g", [b"\0" * 8], 1), np.array(["\ud800"])],
    ids=lambda w: type(w).__name__,
)
def test_what_holds_no_keys_is_refused(small, wrong):
    with pytest.raises(TypeError):
        small.update(wrong)


def test_nulls_of_arrow_are_refused_before_anything_is_done(small):
    data = np.arange(20, dtype="i8").tobytes()
    valid = bytes([0b11111111, 0b11110111, 0b1111])
    with pytest.raises(ValueError, match="element 11 is null"):
        small.update(ArrowArray("l", [data], 20, valid=valid))
    assert len(small) == 0
    small.update(ArrowArray("l", [data], 8, offset=12, valid=valid))
    assert len(small) == 8


def test_arrow_memory_is_released(small):
    arrays = [ArrowArray("l", [np.arange(5, dtype="i8").tobytes()], 5) for _ in range(3)]
    small.update(arrays[0])
    small.update(ArrowStream(arrays[1:]))
    with pytest.raises(TypeError):
        small.update(ArrowStream([ArrowArray("g", [b"\0" * 8], 1)]))
    assert [a.released for a in arrays] == [1, 1, 1]


def test_a_stream_that_fails_is_an_error(small):
    with pytest.raises(tamis.Error, match="the disk is on fire"):
        small.update(ArrowStream([], error="the disk is on fire"))


def test_an_iterator_that_fails_ends_the_batch(small):
    def keys():
        yield from range(5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        small.update(keys())
    assert len(small) == 5


def test_an_iterator_may_use_the_set_itself(small):
    def keys():
        for i in range(600):
            small.add(str(i))
            yield i

    small.update(keys())
    assert len(small) == 1200


def test_an_iterator_may_close_the_set(small):
    def keys():
        for i in range(20000):
            yield i
        small.close()

    with pytest.raises((ValueError, tamis.FullError)):
        small.update(keys())


def test_columns_of_pandas_are_sources(small):
    pandas = pytest.importorskip("pandas")
    small.update(pandas.Series([1, 2, 3]))
    small.update(pandas.Series(["a", "b"]))
    assert small.contains(pandas.Index([1, 5])).tolist() == [True, False] and "b" in small


def test_without_numpy_results_are_bytearrays_and_memoryviews():
    """In another process, in which numpy cannot be imported."""
    import subprocess
    import sys

    code = """
import sys
sys.modules['numpy'] = None
import tamis
s = tamis.Counter(['a', 'b', 'a'], capacity=100)
assert s.contains(['a', 'x']) == bytearray(b'\\1\\0'), s.contains(['a', 'x'])
assert s.remove_all(['a', 'x']) == bytearray(b'\\1\\0')
assert s.counts(['a', 'b', 'c']).tolist() == [1, 1, 0]
assert s.counts([]).tolist() == [] and s.contains([]) == bytearray()
t = tamis.States(values=3, capacity=100)
assert t.set_all(['a', 'b'], [1, 2]) == bytearray(b'\\1\\1')
assert t.get_all(['a', 'b', 'c']).tolist() == [1, 2, -1]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
