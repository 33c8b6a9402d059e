"""One key at a time, whole sets, and keys of every type."""
import copy
import pickle

import pytest

import tamis
from conftest import SEED


def test_a_set_has_what_was_added_and_not_what_was_removed(small):
    small.add("apple")
    small.add(b"plum")
    small.add(17)
    assert "apple" in small and b"plum" in small and 17 in small
    assert "pear" not in small and 18 not in small
    assert len(small) == 3
    small.remove("apple")
    assert "apple" not in small and len(small) == 2


def test_a_str_is_the_bytes_of_its_utf8(small):
    small.add("été")
    assert "été".encode() in small
    small.add(b"\xf0\x9f\x8d\x8e")
    assert "\U0001f34e" in small


def test_an_int_is_its_64_bits_and_never_its_digits(small):
    small.add(-1)
    assert 2**64 - 1 in small and -1 in small
    assert "-1" not in small and b"\xff" * 8 not in small
    small.add(True)
    assert 1 in small


@pytest.mark.parametrize("key", [2**64, -(2**63) - 1, 10**30])
def test_longer_ints_are_refused_with_a_sentence(small, key):
    for call in (small.add, small.remove, small.discard, small.add_new, small.__contains__):
        with pytest.raises(tamis.KeyRangeError, match="does not fit into 64 bits"):
            call(key)
    with pytest.raises(OverflowError):
        small.update([1, key])
    assert len(small) == 1  # the keys before it are done


@pytest.mark.parametrize("key", [None, 1.0, ("a",), ["a"], object()])
def test_other_objects_are_no_keys(small, key):
    for call in (small.add, small.remove, small.__contains__):
        with pytest.raises(tamis.KeyTypeError, match="a key is bytes, str or int, not"):
            call(key)


def test_bytearrays_and_memoryviews_are_keys(small):
    small.add(bytearray(b"plum"))
    assert memoryview(b"xplumx")[1:5] in small


def test_a_str_that_has_no_utf8_is_refused(small):
    with pytest.raises(UnicodeEncodeError):
        small.add("\ud800")


def test_removing_what_is_absent_is_a_key_error_with_the_key(small):
    with pytest.raises(KeyError) as caught:
        small.remove("pear")
    assert caught.value.args == ("pear",)
    assert isinstance(caught.value, tamis.Error) and "'pear' is not in the set" in str(caught.value)
    assert small.discard("pear") is False
    small.add("pear")
    assert small.discard("pear") is True


def test_a_key_that_was_added_twice_is_removed_twice(small):
    small.update(["a", "a"])
    small.remove("a")
    assert "a" in small
    small.remove("a")
    assert "a" not in small


def test_a_flooded_key_is_saturated_and_stays(small):
    small.update(["a"] * 100)
    with pytest.raises(tamis.SaturatedError):
        small.remove("a")
    assert small.discard("a") is False and "a" in small


def test_add_new_tells_what_was_new(small):
    assert [small.add_new(k) for k in ("a", "b", "a", 1, 1)] == [True, True, False, True, False]


def test_a_full_set_refuses_and_says_how_many_were_done():
    s = tamis.Set(capacity=100, fpr=0.01, seed=SEED)
    with pytest.raises(tamis.FullError) as caught:
        s.update(range(100000))
    assert 100 <= caught.value.done == len(s) < 100000
    assert all(i in s for i in range(caught.value.done))


def test_merge_and_subtract():
    a = tamis.Set(range(500), capacity=2000, fpr=1e-6, seed=SEED)
    b = tamis.Set(range(500, 800), like=a)
    both = a | b
    assert all(i in both for i in range(800)) and len(both) == 800 and len(a) == 500
    a |= b
    assert bytes(a) == bytes(both)
    a -= b
    assert len(a) == 500 and not any(i in a for i in range(500, 800))
    assert len(both - b) == 500
    with pytest.raises(KeyError):
        a -= b


def test_sets_of_another_seed_do_not_merge():
    a, b = tamis.Set(capacity=100), tamis.Set(capacity=100)
    with pytest.raises(tamis.MismatchError):
        a |= b
    with pytest.raises(ValueError, match="by itself"):
        a |= a
    with pytest.raises(TypeError):
        a |= {1}


def test_copies_are_of_their_own(small):
    small.update(range(10))
    for other in (small.copy(), copy.copy(small), copy.deepcopy(small)):
        other.add("more")
        assert len(other) == 11 and len(small) == 10
    small.clear()
    assert len(small) == 0 and 1 not in small


def test_pickles_and_bytes_are_the_same_set(small):
    small.update(range(100))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        other = pickle.loads(pickle.dumps(small, protocol))
        assert type(other) is tamis.Set and bytes(other) == bytes(small)
    assert all(i in tamis.Set.from_bytes(bytearray(bytes(small))) for i in range(100))


class Named(tamis.Set):
    """A subclass, at the top so that pickle finds it."""


def test_subclasses_keep_their_class_and_attributes():
    s = Named(["a"], capacity=100)
    s.name = "fruit"
    other = pickle.loads(pickle.dumps(s))
    assert type(other) is Named and other.name == "fruit" and "a" in other
    assert type(s.copy()) is Named and type(Named.from_bytes(bytes(s))) is Named


def test_capacity_comes_from_the_keys_or_must_be_given():
    assert tamis.Set(["a", "b"]).capacity == 2
    assert tamis.Set(["a"], capacity=1e3).capacity == 1000
    with pytest.raises(ValueError, match="say how many different keys"):
        tamis.Set()
    with pytest.raises(ValueError, match="say how many different keys"):
        tamis.Set(iter("ab"))


def test_memory_leaves_the_capacity_or_the_rate_open():
    assert tamis.Set(memory=10000, fpr=0.01).capacity > 4000
    assert tamis.Set(capacity=1000, memory=4000).info.plan.fpr < 1e-3
    assert tamis.Set(memory=1e4, fpr=0.01).nbytes <= 10000


@pytest.mark.parametrize(
    "wrong",
    [dict(capacity=-1), dict(capacity="many"), dict(capacity=1.5), dict(fpr="x"), dict(fpr=2.0),
     dict(prefer="best"), dict(hash="md5"), dict(seed=-1), dict(seed=2**128), dict(seed="x"),
     dict(like=set()), dict(kind=5), dict(kind="nobody"), dict(count=True), dict(geometry="x=1")],
)
def test_wrong_arguments_are_refused_with_a_sentence(wrong):
    with pytest.raises(tamis.Error) as caught:
        tamis.Set(**{"capacity": 100, **wrong})
    assert len(str(caught.value)) > 20


def test_unknown_keywords_are_type_errors():
    with pytest.raises(TypeError, match="no keyword argument 'size'"):
        tamis.Set(size=5)


def test_a_set_grows_and_keeps_its_keys():
    s = tamis.Set(capacity=1000, grow_to=64000, fpr=0.001, seed=SEED)
    s.update(range(50000))
    assert s.capacity == 64000 and s.contains(range(50000)) is not None
    assert all(i in s for i in range(50000))
    s.remove_all(range(1000, 50000))
    assert 1000 <= s.resize(1000) <= 2000 and all(i in s for i in range(1000))


def test_seeds_make_sets_the_same_byte_for_byte():
    a, b = (tamis.Set(range(100), capacity=1000, seed=SEED) for _ in range(2))
    assert bytes(a) == bytes(b) and a.seed == SEED
    assert tamis.Set(capacity=10).seed != tamis.Set(capacity=10).seed


def test_siphash_is_a_choice():
    try:
        s = tamis.Set(["a", 5], capacity=100, hash="siphash", seed=SEED)
    except tamis.CannotError:
        return  # built without libsodium
    assert "a" in s and 5 in s and s.info.hash == "siphash"


def test_what_is_known_is_in_attributes(small):
    small.update(range(100))
    assert small.kind == "line" and small.capacity == 1000 and small.grow_to == 0
    assert small.abilities == ("remove", "count", "merge") and not small.is_mapped
    info = small.info
    assert info.keys == 100 and info.body_bytes == small.nbytes and info.seed == SEED
    assert 0 < info.current_fpr < 1e-6 and 99 < info.distinct < 101
    assert repr(small) == f"<Set: 100 keys, made for 1000, line, {small.nbytes} bytes>"


def test_a_closed_set_says_so(small):
    with small as s:
        s.add("a")
    assert small.closed and "closed" in repr(small)
    for call in (lambda: "a" in small, lambda: small.add("a"), lambda: small.update(["a"]),
                 lambda: len(small), lambda: bytes(small), lambda: small.info, lambda: small.copy(),
                 lambda: small.contains([1]), lambda: small.__enter__(), lambda: small.kind):
        with pytest.raises(tamis.ClosedError, match="closed"):
            call()
    small.close()


def test_an_object_without_init_is_closed_and_can_be_made_again():
    s = tamis.Set.__new__(tamis.Set)
    with pytest.raises(ValueError):
        s.add(1)
    s.__init__(capacity=10)
    s.add(1)
    s.__init__(capacity=10)
    assert 1 not in s


def test_a_set_cannot_be_listed(small):
    with pytest.raises(TypeError):
        iter(small)
