"""Random histories, compared with set and collections.Counter. The examples are fixed (see conftest)."""
import collections

from hypothesis import given
from hypothesis import strategies as st

import tamis
from conftest import SEED

KEYS = st.one_of(st.binary(max_size=12), st.text(max_size=6), st.integers(-(2**63), 2**64 - 1))


def same(key):
    """Make keys equal that are the same key for tamis: a str and its UTF-8, an int and its 64 bits."""
    if isinstance(key, str):
        return key.encode()
    return key % 2**64 if isinstance(key, int) else key


def new_set(**more):
    return tamis.Set(**{"capacity": 400, "fpr": 1e-12, "seed": SEED, **more})


KEYS = KEYS.filter(lambda key: not isinstance(key, str) or key.isprintable() or key.isascii())
OPERATIONS = st.lists(st.tuples(st.sampled_from(["add", "remove", "discard", "update", "remove_all"]),
                                st.lists(KEYS, min_size=1, max_size=8)), max_size=40)


@given(OPERATIONS)
def test_a_set_that_gets_each_key_once_is_a_set(history):
    """At 1e-12 a set of this size tells all keys apart, so the answers are those of set."""
    model, s = set(), new_set()
    for name, keys in history:
        unique = list({same(k): k for k in keys}.values())
        if name in ("add", "update"):
            fresh = [k for k in unique if same(k) not in model]
            s.update(fresh)
            model.update(map(same, fresh))
        else:
            expected = [same(k) in model for k in unique]
            removed = s.remove_all(unique) if name == "remove_all" else [s.discard(k) for k in unique]
            assert list(removed) == expected
            model.difference_update(map(same, unique))
        assert len(s) == len(model)
    assert all(k in s for k in model)


@given(OPERATIONS)
def test_a_counter_is_a_counter(history):
    model = collections.Counter()
    s = tamis.Counter(capacity=400, fpr=1e-12, seed=SEED)
    for name, keys in history:
        if name in ("add", "update"):
            s.update(keys) if name == "update" else [s.add(k) for k in keys]
            model.update(map(same, keys))
            continue
        for k in keys:
            assert s.discard(k) == (model[same(k)] > 0)
            model[same(k)] = max(0, model[same(k)] - 1)
    asked = [k for _, keys in history for k in keys]
    assert list(s.counts(asked)) == [model[same(k)] for k in asked] == [s[k] for k in asked]
    assert s.total() == model.total()


@given(st.lists(KEYS, max_size=60), st.lists(KEYS, max_size=60))
def test_merging_is_adding_and_subtracting_takes_it_back(first, second):
    a = new_set()
    a.update(first)
    b = tamis.Set(second, like=a)
    both = tamis.Set(first + second, like=a)
    merged = a | b
    assert merged.contains(first + second).all() and len(merged) == len(both)
    if both.info.saturated == 0:
        assert bytes(merged) == bytes(both) and bytes(merged - b) == bytes(a)


@given(st.lists(KEYS, max_size=100))
def test_bytes_and_back_changes_nothing(keys):
    s = new_set()
    s.update(keys)
    again = tamis.Set.from_bytes(bytes(s))
    assert bytes(again) == bytes(s) and again.contains(keys).all()


@given(st.lists(KEYS, max_size=60), st.lists(KEYS, max_size=60))
def test_no_key_that_is_in_a_coarse_set_is_denied(kept, removed):
    """At a rate of 1/4 many keys collide, but a key that is in the set is always found."""
    s = new_set(fpr=0.25)
    s.update(kept + removed)
    s.remove_all(removed)
    assert s.contains(kept).all()
