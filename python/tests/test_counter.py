"""tamis.Counter, compared with collections.Counter."""
import collections
import pickle

import pytest

import tamis
from conftest import SEED


def test_a_counter_counts(counter):
    counter.update(["a", "b", "a"])
    counter.add("b", 10)
    counter.add("c", n=2)
    assert [counter[k] for k in "abcd"] == [2, 11, 2, 0]
    assert counter.total() == len(counter) == 15
    counter.remove("b")
    assert counter["b"] == 10
    with pytest.raises(KeyError):
        counter.remove("d")


def test_mappings_bring_their_counts(counter):
    counter.update(collections.Counter("abracadabra"))
    counter.update({b"x": 3, 5: 4})
    assert counter["a"] == 5 and counter["x"] == 3 and counter[5] == 4
    assert tamis.Counter({"a": 3}, capacity=10, seed=SEED)["a"] == 3
    for wrong in ({"a": -1}, {"a": "x"}, {"a": 1.5}):
        with pytest.raises(ValueError):
            counter.update(wrong)


def test_counts_beyond_count_to_are_many():
    c = tamis.Counter(capacity=100, count_to=1000, seed=SEED)
    c.add("a", 1000)
    assert c["a"] == 1000
    c.add("a", 10**9)
    assert c["a"] == tamis.MANY and int(c.counts(["a"])[0]) == tamis.MANY


def test_most_is_not_possible_and_says_why(counter):
    for call in (counter.most, counter.most_common):
        with pytest.raises(tamis.CannotError, match="stores fingerprints, not keys"):
            call(3)


def test_counts_cannot_be_set(counter):
    with pytest.raises(TypeError, match="counts cannot be set"):
        counter["a"] = 5
    with pytest.raises(TypeError):
        del counter["a"]


def test_a_counter_is_a_set_too(counter):
    counter.add("a")
    assert isinstance(counter, tamis.Set) and "a" in counter and counter.discard("a")
    other = tamis.Counter(["x", "x"], like=counter)
    counter |= other
    assert counter["x"] == 2
    counter -= other
    assert counter["x"] == 0
    assert type(pickle.loads(pickle.dumps(counter))) is tamis.Counter
