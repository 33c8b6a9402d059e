"""BF.*: every command, every reply, every error text."""
import pytest
from server import Error, Simple

WRONG = Error("WRONGTYPE Operation against a key holding the wrong kind of value")


def arity(command):
    return Error(f"ERR wrong number of arguments for '{command}' command")


def test_reserve_makes_an_empty_filter(r):
    assert r("BF.RESERVE", "k", "0.01", 1000) == Simple("OK")
    assert r("BF.CARD", "k") == 0
    assert r("BF.RESERVE", "k", "0.01", 1000) == Error("ERR item exists")
    assert r("TYPE", "k") == Simple("tamis--bf")


@pytest.mark.parametrize("words, text", [
    (("x", 100), "ERR bad error rate"),
    (("0", 100), "ERR error rate must be in the range (0.000000, 1.000000)"),
    (("1", 100), "ERR error rate must be in the range (0.000000, 1.000000)"),
    (("-0.5", 100), "ERR error rate must be in the range (0.000000, 1.000000)"),
    (("0.01", "x"), "ERR bad capacity"),
    (("0.01", 0), "ERR capacity must be in the range [1, 1073741824]"),
    (("0.01", 1073741825), "ERR capacity must be in the range [1, 1073741824]"),
    (("x", "x"), "ERR bad error rate"),
    (("0.01", 100, "EXPANSION"), "ERR no expansion"),
    (("0.01", 100, "EXPANSION", "x"), "ERR bad expansion"),
    (("0.01", 100, "EXPANSION", 2, "NONSCALING"), "Nonscaling filters cannot expand"),
    (("0.01", 100, "EXPANSION", 32769), "ERR expansion must be in the range [0, 32768]"),
    (("0.01", 100, "EXPANSION", -1), "ERR expansion must be in the range [0, 32768]"),
])
def test_reserve_refuses(r, words, text):
    assert r("BF.RESERVE", "k", *words) == Error(text)
    assert r("EXISTS", "k") == 0


def test_reserve_takes_words_it_does_not_know(r):
    assert r("BF.RESERVE", "k", "0.01", 100, "whatever") == "OK"
    assert r("BF.RESERVE", "k2", "0.9", 100) == "OK"  # more than 0.25 becomes 0.25
    assert r("BF.RESERVE", "k3", "0.01", 100, "EXPANSION", 0, "NONSCALING") == "OK"


def test_arities(r):
    for words, name in ((("BF.RESERVE", "k", "0.1"), "bf.reserve"), (("BF.ADD", "k"), "bf.add"),
                        (("BF.RESERVE", "k", "0.1", 1, 2, 3, 4, 5), "bf.reserve"),
                        (("BF.ADD", "k", "a", "b"), "bf.add"), (("BF.MADD", "k"), "bf.madd"),
                        (("BF.EXISTS", "k"), "bf.exists"), (("BF.MEXISTS", "k"), "bf.mexists"),
                        (("BF.INSERT", "k", "ITEMS"), "bf.insert"), (("BF.CARD",), "bf.card"),
                        (("BF.INSERT", "k", "NOCREATE", "ITEMS"), "bf.insert"),
                        (("BF.INSERT", "k", "CAPACITY", "10"), "bf.insert"),
                        (("BF.INFO",), "bf.info"), (("BF.INFO", "k", "SIZE", "x"), "bf.info"),
                        (("BF.SCANDUMP", "k"), "bf.scandump"), (("BF.LOADCHUNK", "k", 1), "bf.loadchunk"),
                        (("BF.DEBUG",), "bf.debug")):
        assert r(*words) == arity(name), words


def test_add_says_what_was_new(r):
    assert r("BF.ADD", "k", "a") == 1
    assert r("BF.ADD", "k", "a") == 0
    assert r("BF.MADD", "k", "a", "b", "c", "b") == [0, 1, 1, 0]
    assert r("BF.EXISTS", "k", "a") == 1
    assert r("BF.EXISTS", "k", "z") == 0
    assert r("BF.MEXISTS", "k", "a", "z", "c") == [1, 0, 1]
    assert r("BF.CARD", "k") == 3


def test_items_are_any_bytes(r):
    items = [b"", b"\0", b"\0\0", bytes(range(256)), b"x" * 100000]
    assert r("BF.MADD", "k", *items) == [1] * 5
    assert r("BF.MEXISTS", "k", *items) == [1] * 5


def test_a_full_filter_that_cannot_grow_ends_the_reply(r):
    r("BF.RESERVE", "k", "0.0001", 2, "NONSCALING")
    assert r("BF.MADD", "k", "a", "b", "a", "c", "d") == [1, 1, 0, Error("ERR non scaling filter is full")]
    assert r("BF.ADD", "k", "c") == Error("ERR non scaling filter is full")
    assert r("BF.ADD", "k", "a") == 0
    assert r("BF.CARD", "k") == 2


def test_insert(r):
    assert r("BF.INSERT", "k", "NOCREATE", "ITEMS", "a") == Error("ERR not found")
    assert r("BF.INSERT", "k", "CAPACITY", 50, "ERROR", "0.001", "ITEMS", "a", "b", "a") == [1, 1, 0]
    assert r("BF.INFO", "k", "CAPACITY") == [50]
    assert r("BF.INSERT", "k", "NOCREATE", "ITEMS", "c") == [1]
    assert r("BF.INSERT", "k2", "Crap", 50, "Ertz", ".001", "Iyyy", "a") == [1]
    assert r("BF.INSERT", "k3", "EXPANSION", 4, "ITEMS", "a") == [1]
    assert r("BF.INFO", "k3", "expansion") == [4]
    assert r("BF.INSERT", "k4", "NONSCALING", "EXPANSION", 4, "ITEMS", "a") == [1]
    assert r("BF.INFO", "k4", "expansion") == [None]


@pytest.mark.parametrize("words, text", [
    (("ERROR", "x", "ITEMS", "a"), "Bad error rate"),
    (("ERROR", "1", "ITEMS", "a"), "Bad error rate"),
    (("EXPANSION", "x", "ITEMS", "a"), "Bad expansion"),
    (("CAPACITY", "x", "ITEMS", "a"), "Bad capacity"),
    (("CAPACITY", 0, "ITEMS", "a"), "Bad capacity"),
    (("BOGUS", "ITEMS", "a"), "Unknown argument received"),
])
def test_insert_refuses(r, words, text):
    assert r("BF.INSERT", "k", *words) == Error(text)
    assert r("EXISTS", "k") == 0


def test_info(r):
    r("BF.RESERVE", "k", "0.01", 1000)
    r("BF.MADD", "k", "a", "b")
    info = r("BF.INFO", "k")
    assert info[0::2] == [Simple(name) for name in ("Capacity", "Size", "Number of filters",
                                                    "Number of items inserted", "Expansion rate")]
    assert info[1] == 1000 and info[5:10:2] == [1, 2, 2]
    assert info[3] == r("BF.INFO", "k", "size")[0] > 0
    assert r("BF.INFO", "k", "ITEMS") == [2]
    assert r("BF.INFO", "k", "FILTERS") == [1]
    assert r("BF.INFO", "k", "bogus") == Error("Invalid information value")
    assert r("BF.INFO", "none") == Error("ERR not found")


def test_debug(r):
    r("BF.MADD", "k", "a", "b")
    reply = r("BF.DEBUG", "k")
    assert reply[0] == b"size:2"
    assert len(reply) == 2
    assert [word.split(b":")[0] for word in reply[1].split(b" ")] == [
        b"bytes", b"bits", b"hashes", b"hashwidth", b"capacity", b"size", b"ratio"]


def test_missing_keys_and_wrong_types(r):
    r("SET", "s", "x")
    r("CF.ADD", "c", "x")
    assert r("BF.EXISTS", "none", "a") == 0
    assert r("BF.MEXISTS", "none", "a", "b") == [0, 0]
    assert r("BF.CARD", "none") == 0
    assert r("BF.SCANDUMP", "none", 0) == Error("ERR not found")
    assert r("BF.DEBUG", "none") == Error("ERR not found")
    for key in ("s", "c"):
        assert r("BF.EXISTS", key, "a") == 0
        assert r("BF.MEXISTS", key, "a", "b") == [0, 0]
        for words in (("BF.ADD", key, "a"), ("BF.MADD", key, "a"), ("BF.CARD", key), ("BF.INFO", key),
                      ("BF.RESERVE", key, "0.1", 10), ("BF.INSERT", key, "ITEMS", "a"), ("BF.SCANDUMP", key, 0),
                      ("BF.LOADCHUNK", key, 1, "x"), ("BF.DEBUG", key)):
            assert r(*words) == WRONG, words


def test_growing_keeps_every_item_and_the_error(r):
    r("BF.RESERVE", "k", "0.01", 100)
    n = 60000  # beyond 16 x 100: several parts
    list(r.many(("BF.MADD", "k", *(f"in{i}" for i in range(at, at + 100))) for at in range(0, n, 100)))
    assert r("BF.INFO", "k", "FILTERS")[0] >= 2
    found = sum(sum(reply) for reply in r.many(("BF.MEXISTS", "k", *(f"in{i}" for i in range(at, at + 100)))
                                               for at in range(0, n, 100)))
    assert found == n
    wrong = sum(sum(reply) for reply in r.many(("BF.MEXISTS", "k", *(f"out{i}" for i in range(at, at + 100)))
                                               for at in range(0, n, 100)))
    assert wrong <= 0.01 * n + 4.75 * (0.0099 * n) ** 0.5  # z = 4.75
    assert r("BF.INFO", "k", "CAPACITY")[0] >= r("BF.CARD", "k")


def test_dump_and_load(r):
    r("BF.RESERVE", "k", "0.001", 50)
    list(r.many(("BF.ADD", "k", f"i{i}") for i in range(3000)))
    pieces, position = [], 0
    while True:
        position, data = r("BF.SCANDUMP", "k", position)
        if position == 0:
            assert data == b""
            break
        pieces.append((position, data))
    assert pieces[0][0] == 1
    for position, data in pieces[:-1]:
        assert r("BF.LOADCHUNK", "copy", position, data) == "OK"
        assert r("EXISTS", "copy") == 0
    assert r("BF.LOADCHUNK", "copy", *pieces[-1]) == "OK"
    assert r("BF.INFO", "copy")[1::2][2:] == r("BF.INFO", "k")[1::2][2:]
    assert r("DEBUG", "DIGEST-VALUE", "copy") == r("DEBUG", "DIGEST-VALUE", "k")
    assert r("BF.LOADCHUNK", "copy", *pieces[0]) == Error("ERR received bad data")


def test_dump_and_load_refuse(r):
    r("BF.ADD", "k", "a")
    assert r("BF.SCANDUMP", "k", "x") == Error("Second argument must be numeric")
    assert r("BF.SCANDUMP", "k", -1) == [0, b""]
    assert r("BF.SCANDUMP", "k", 1 << 40) == [0, b""]
    assert r("BF.LOADCHUNK", "n", "x", "data") == Error("ERR Second argument must be numeric")
    assert r("BF.LOADCHUNK", "n", 1, "data") == Error("ERR received bad data")
    assert r("BF.LOADCHUNK", "n", 2, "data") == Error("ERR not found")
    assert r("BF.LOADCHUNK", "n", 0, "data") == Error("ERR not found")
    assert r("BF.LOADCHUNK", "n", -5, "data") == Error("ERR not found")
    header = r("BF.SCANDUMP", "k", 0)[1]
    assert r("BF.LOADCHUNK", "n", 1, header) == "OK"
    assert r("BF.LOADCHUNK", "n", 5, "data") == Error("ERR received bad data")
    piece = r("BF.SCANDUMP", "k", 1)
    assert r("BF.LOADCHUNK", "n", piece[0], piece[1][:-1] + b"!") == Error("ERR received bad data")
    assert r("BF.LOADCHUNK", "n", *piece) == Error("ERR not found")  # the load is over
    assert r("EXISTS", "n") == 0


def test_a_filter_that_is_there_is_not_overwritten(r):
    """The texts say where the piece would have gone, as clients know them."""
    r("BF.ADD", "k", "a")
    digest = r("DEBUG", "DIGEST-VALUE", "k")
    bad = Error("ERR received bad data")
    nowhere = Error("ERR invalid offset - no link found")
    for position, data, reply in ((0, "x", bad), (-1, "x", bad), (1, "xx", bad), (2, "x", bad), (2, "", "OK"),
                                  (1, "x", nowhere), (1 << 40, "x", nowhere), (1 << 40, "", nowhere),
                                  (1 + (1 << 20), b"x" * (1 << 20),
                                   Error("ERR invalid chunk - Too big for current filter"))):
        assert r("BF.LOADCHUNK", "k", position, data) == reply, (position, len(data))
    assert r("DEBUG", "DIGEST-VALUE", "k") == digest


def test_a_filter_that_changes_breaks_a_dump(r):
    r("BF.ADD", "k", "a")
    header = r("BF.SCANDUMP", "k", 0)
    r("BF.ADD", "k", "b")
    changed = Error("ERR the key changed since this dump began: start again with 0")
    assert r("BF.SCANDUMP", "k", 1) == changed
    r("BF.SCANDUMP", "k", 0)  # another client begins
    piece = r("BF.SCANDUMP", "k", 1)
    assert r("BF.LOADCHUNK", "n", *header) == "OK"
    assert r("BF.LOADCHUNK", "n", *piece) == Error("ERR received bad data")  # never a mixed dump
    assert r("EXISTS", "n") == 0


def test_resp3(r3):
    assert r3("BF.ADD", "k", "a") is True
    assert r3("BF.ADD", "k", "a") is False
    assert r3("BF.MADD", "k", "a", "b") == [False, True]
    assert r3("BF.INSERT", "k", "ITEMS", "c") == [True]
    assert r3("BF.EXISTS", "k", "a") is True
    assert r3("BF.MEXISTS", "k", "a", "z") == [True, False]
    assert r3("BF.CARD", "k") == 3 and r3("BF.CARD", "k") is not True
    info = r3("BF.INFO", "k")
    assert isinstance(info, dict) and info["Number of items inserted"] == 3
    assert r3("BF.INFO", "k", "ITEMS") == [3]
