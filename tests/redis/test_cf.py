"""CF.*: every command, every reply, every error text."""
import random

import pytest
from server import Error, Server, Simple

WRONG = Error("WRONGTYPE Operation against a key holding the wrong kind of value")


def test_reserve(r):
    assert r("CF.RESERVE", "k", 1000) == Simple("OK")
    assert r("CF.RESERVE", "k", 1000) == Error("ERR item exists")
    assert r("CF.RESERVE", "k2", 1000, "BUCKETSIZE", 4, "MAXITERATIONS", 30, "EXPANSION", 3, "WHAT", "EVER") == "OK"
    info = r("CF.INFO", "k2")
    assert info[11::2] == [4, 4, 30]  # an expansion of 3 becomes 4
    assert r("TYPE", "k") == "tamis--cf"


@pytest.mark.parametrize("words, text", [
    (("x",), "Bad capacity"),
    ((100, "MAXITERATIONS", "x"), "Couldn't parse MAXITERATIONS"),
    ((100, "MAXITERATIONS", 0), "MAXITERATIONS: value must be in the range [1, 65535]"),
    ((100, "BUCKETSIZE", "x"), "Couldn't parse BUCKETSIZE"),
    ((100, "BUCKETSIZE", 256), "BUCKETSIZE: value must be in the range [1, 255]"),
    ((100, "EXPANSION", "x"), "Couldn't parse EXPANSION"),
    ((100, "EXPANSION", 32769), "EXPANSION: value must be in the range [0, 32768]"),
    ((3,), "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
    ((100, "BUCKETSIZE", 51), "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
    ((1073741825,), "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
    ((100, "BUCKETSIZE", 0, "MAXITERATIONS", "x"), "Couldn't parse MAXITERATIONS"),
])
def test_reserve_refuses(r, words, text):
    assert r("CF.RESERVE", "k", *words) == Error(text)
    assert r("EXISTS", "k") == 0


def test_arities(r):
    for words, name in ((("CF.RESERVE", "k"), "cf.reserve"), (("CF.RESERVE", "k", 10, "EXPANSION"), "cf.reserve"),
                        (("CF.ADD", "k"), "cf.add"), (("CF.ADDNX", "k", "a", "b"), "cf.addnx"),
                        (("CF.INSERT", "k", "ITEMS"), "cf.insert"), (("CF.INSERTNX", "k", "NO", "IT"), "cf.insertnx"),
                        (("CF.EXISTS", "k"), "cf.exists"), (("CF.MEXISTS", "k"), "cf.mexists"),
                        (("CF.COUNT", "k"), "cf.count"), (("CF.DEL", "k"), "cf.del"), (("CF.INFO",), "cf.info"),
                        (("CF.COMPACT",), "cf.compact"), (("CF.SCANDUMP", "k"), "cf.scandump"),
                        (("CF.LOADCHUNK", "k", 1), "cf.loadchunk"), (("CF.DEBUG",), "cf.debug")):
        assert r(*words) == Error(f"ERR wrong number of arguments for '{name}' command"), words


def test_copies_are_counted_and_removed_one_by_one(r):
    for copies in range(1, 16):
        assert r("CF.ADD", "k", "a") == 1
        assert r("CF.COUNT", "k", "a") == copies
    for copies in range(14, -1, -1):
        assert r("CF.DEL", "k", "a") == 1
        assert r("CF.COUNT", "k", "a") == copies
    assert r("CF.EXISTS", "k", "a") == 0
    assert r("CF.DEL", "k", "a") == 0


def test_addnx_and_inserts(r):
    assert r("CF.ADDNX", "k", "a") == 1
    assert r("CF.ADDNX", "k", "a") == 0
    assert r("CF.INSERT", "k", "ITEMS", "a", "b", "b") == [1, 1, 1]
    assert r("CF.INSERTNX", "k", "ITEMS", "a", "c", "c") == [0, 1, 0]
    assert [r("CF.COUNT", "k", item) for item in "abcz"] == [2, 2, 1, 0]
    assert r("CF.INSERT", "k2", "CAPACITY", 100, "NOCREATE", "ITEMS", "a") == Error("ERR not found")
    assert r("CF.INSERT", "k2", "CAPACITY", 100, "ITEMS", "a") == [1]
    assert r("CF.INSERT", "k3", "CAPACITY", "x", "ITEMS", "a") == Error("Bad capacity")
    for capacity in (3, -1, 1073741825):
        assert r("CF.INSERT", "k3", "CAPACITY", capacity, "ITEMS", "a") == Error(
            "Capacity must be in the range [cf-bucket-size * 2, 1073741824]")
    assert r("CF.INSERT", "k3", "BOGUS", "ITEMS", "a") == Error("Unknown argument received")
    assert r("CF.MEXISTS", "k", "a", "z", "c") == [1, 0, 1]


def test_missing_keys_and_wrong_types(r):
    r("SET", "s", "x")
    r("BF.ADD", "b", "x")
    assert r("CF.EXISTS", "none", "a") == 0 and r("CF.COUNT", "none", "a") == 0
    assert r("CF.MEXISTS", "none", "a", "b") == [0, 0]
    assert r("CF.DEL", "none", "a") == Error("Not found")
    assert r("CF.COMPACT", "none") == Error("Cuckoo filter was not found")
    assert r("CF.INFO", "none") == Error("ERR not found")
    assert r("CF.SCANDUMP", "none", 0) == Error("ERR not found")
    for key in ("s", "b"):
        assert r("CF.EXISTS", key, "a") == 0 and r("CF.COUNT", key, "a") == 0
        assert r("CF.MEXISTS", key, "a") == [0]
        assert r("CF.DEL", key, "a") == Error("Not found")
        assert r("CF.COMPACT", key) == Error("Cuckoo filter was not found")
        for words in (("CF.ADD", key, "a"), ("CF.ADDNX", key, "a"), ("CF.INSERT", key, "ITEMS", "a"),
                      ("CF.INSERTNX", key, "ITEMS", "a"), ("CF.RESERVE", key, 100), ("CF.INFO", key),
                      ("CF.SCANDUMP", key, 0), ("CF.LOADCHUNK", key, 1, "x"), ("CF.DEBUG", key)):
            assert r(*words) == WRONG, words


def test_info_and_debug(r):
    r("CF.RESERVE", "k", 1000)
    r("CF.INSERT", "k", "ITEMS", "a", "a", "b")
    r("CF.DEL", "k", "a")
    info = r("CF.INFO", "k")
    assert info[0::2] == [Simple(name) for name in
                          ("Size", "Number of buckets", "Number of filters", "Number of items inserted",
                           "Number of items deleted", "Bucket size", "Expansion rate", "Max iterations")]
    assert info[1] > 0 and info[3] > 0 and info[5::2] == [1, 2, 1, 2, 1, 20]
    assert r("CF.DEBUG", "k") == (b"bktsize:2 buckets:%d items:2 deletes:1 filters:1 max_iterations:20 expansion:1"
                                  % info[3])
    assert r("CF.COMPACT", "k") == "OK"


def test_a_full_filter_that_cannot_grow_says_so(r):
    r("CF.RESERVE", "k", 8, "EXPANSION", 0)
    replies = r("CF.INSERT", "k", "ITEMS", *(f"i{i}" for i in range(20)))
    assert replies.count(1) >= 8 and len(replies) == 20
    assert set(replies) == {1, -1}
    assert r("CF.ADD", "k", "another") == Error("Filter is full")
    assert r("CF.ADDNX", "k", "another") == Error("Filter is full")
    assert r("CF.ADD", "k", "i0") == 1  # a copy of what is there has room
    assert r("CF.DEL", "k", "i1") == 1
    assert r("CF.ADD", "k", "another") == 1


def test_the_most_expansions(r):
    with Server(module_args=["cf-max-expansions", 1, "headroom", 1]) as small:
        wire = small.wire()
        wire("CF.RESERVE", "k", 8)
        replies = list(wire.many(("CF.ADD", "k", f"i{i}") for i in range(100000)))
        first = replies.index(Error("Maximum expansions reached"))
        assert first >= 16 and set(replies[:first]) == {1}
        assert wire("CF.INFO", "k")[5] == 1
        wire.close()


@pytest.mark.slow
def test_a_flood_costs_a_counter_and_no_memory(r):
    r("CF.RESERVE", "k", 1000)
    list(r.many(("CF.ADD", "k", f"other{i}") for i in range(100)))
    before = r("MEMORY", "USAGE", "k")
    flood = ["one"] * 1000
    for reply in r.many(("CF.INSERT", "k", "ITEMS", *flood) for _ in range(1000)):
        assert reply == [1] * 1000
    assert r("MEMORY", "USAGE", "k") == before
    assert r("CF.COUNT", "k", "one") == 16  # more than can be counted: one above the highest exact count
    assert r("CF.DEL", "k", "one") == 0  # it stays
    assert r("CF.EXISTS", "k", "one") == 1
    assert all(reply == 1 for reply in r.many(("CF.COUNT", "k", f"other{i}") for i in range(100)))


def test_140000_copies_in_one_command(r):
    assert r("CF.INSERT", "k", "ITEMS", *["x"] * 140000) == [1] * 140000


def test_no_key_is_lost_while_parts_open_and_keys_go(r):
    """Random adds and removals of added keys, against an exact count, over several parts."""
    draw = random.Random(20)
    exact, commands = {}, []
    r("CF.RESERVE", "k", 10)
    for _ in range(60000):
        if exact and draw.random() < 0.3:
            key = draw.choice(list(exact)) if len(exact) < 50 else f"i{draw.randrange(8000)}"
            if exact.get(key, 0) == 0:
                continue
            exact[key] -= 1
            commands.append(("CF.DEL", "k", key))
        else:
            key = f"i{draw.randrange(8000)}"
            if exact.get(key, 0) >= 4:  # three keys with one fingerprint do not saturate it
                continue
            exact[key] = exact.get(key, 0) + 1
            commands.append(("CF.ADD", "k", key))
    replies = list(r.many(commands))
    assert r("CF.INFO", "k")[5] >= 2
    counts = dict(zip(exact, r.many(("CF.COUNT", "k", key) for key in exact)))
    assert not [key for key in exact if counts[key] < exact[key]]
    # a removal is refused only if keys with one fingerprint saturated it: then it stays
    refused = [words[2] for words, reply in zip(commands, replies) if reply != 1]
    assert all(counts[key] == 16 for key in refused) and len(refused) < 100
    assert r("CF.INFO", "k")[7] == sum(exact.values()) + len(refused)
    n = 40000
    wrong = sum(sum(reply) for reply in r.many(("CF.MEXISTS", "k", *(f"no{i}" for i in range(at, at + 100)))
                                               for at in range(0, n, 100)))
    assert wrong <= 0.01 * n + 4.75 * (0.0099 * n) ** 0.5  # z = 4.75


def test_dump_and_load(r):
    r("CF.RESERVE", "k", 20)
    assert r("CF.SCANDUMP", "k", 0) == [0, None]  # empty
    list(r.many(("CF.ADD", "k", f"i{i % 700}") for i in range(2000)))
    assert r("CF.SCANDUMP", "k", "x") == Error("Invalid position")
    assert r("CF.SCANDUMP", "k", -1) == Error("Invalid position")
    pieces, position = [], 0
    while True:
        position, data = r("CF.SCANDUMP", "k", position)
        if position == 0:
            assert data is None
            break
        pieces.append((position, data))
    for position, data in pieces:
        assert r("EXISTS", "copy") == 0
        assert r("CF.LOADCHUNK", "copy", position, data) == "OK"
    assert r("DEBUG", "DIGEST-VALUE", "copy") == r("DEBUG", "DIGEST-VALUE", "k")
    assert r("CF.LOADCHUNK", "copy", *pieces[0]) == Error("ERR item exists")
    assert r("CF.LOADCHUNK", "copy", *pieces[1]) == Error("Couldn't load chunk!")


def test_load_refuses(r):
    r("CF.ADD", "k", "a")
    assert r("CF.LOADCHUNK", "n", 0, "x") == Error("Invalid position")
    assert r("CF.LOADCHUNK", "n", "x", "x") == Error("Invalid position")
    assert r("CF.LOADCHUNK", "n", 1, "x") == Error("Invalid header")
    assert r("CF.LOADCHUNK", "n", 1, "x" * 40) == Error("Couldn't create filter!")  # as long as a header
    assert r("CF.LOADCHUNK", "n", 2, "x") == Error("ERR not found")
    assert r("CF.LOADCHUNK", "n", -2, "x") == Error("ERR not found")
    assert r("CF.LOADCHUNK", "n", *r("CF.SCANDUMP", "k", 0)) == "OK"
    assert r("CF.LOADCHUNK", "n", 2, "") == Error("Couldn't load chunk!")
    r("BF.ADD", "b", "a")
    assert r("CF.LOADCHUNK", "m", *r("BF.SCANDUMP", "b", 0)) == "OK"  # a dump of the other family
    assert r("CF.LOADCHUNK", "m", *r("BF.SCANDUMP", "b", 1)) == Error("Couldn't load chunk!")
    assert r("EXISTS", "n", "m") == 0


def test_resp3(r3):
    assert r3("CF.ADD", "k", "a") is True
    assert r3("CF.ADDNX", "k", "a") is False
    assert r3("CF.INSERT", "k", "ITEMS", "a", "b") == [True, True]
    nx = r3("CF.INSERTNX", "k", "ITEMS", "a", "c")
    assert nx == [0, 1] and not any(isinstance(one, bool) for one in nx)
    assert r3("CF.EXISTS", "k", "a") is True
    assert r3("CF.MEXISTS", "k", "a", "z") == [True, False]
    assert r3("CF.COUNT", "k", "a") == 2
    assert r3("CF.DEL", "k", "a") is True
    assert isinstance(r3("CF.INFO", "k"), dict)
    r3("CF.RESERVE", "f", 8, "EXPANSION", 0)
    assert set(r3("CF.INSERT", "f", "ITEMS", *(f"i{i}" for i in range(20)))) == {True, False}
    assert -1 in r3("CF.INSERTNX", "f", "ITEMS", *(f"j{i}" for i in range(20)))
