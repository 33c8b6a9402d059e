"""PART i P, and REQUEST client n: parts of a set, and requests that are done once."""
import glob
import os

import pytest
from server import Error, Server, Simple, Wire, until


def reserve(r, key, *words):
    assert r("TAMIS.RESERVE", key, "ERROR", 0.001, "CAPACITY", 10000, "COUNTING", *words) == Simple("OK")


def info(r, key):
    reply = r("TAMIS.INFO", key)
    return dict(zip(reply[0::2], reply[1::2]))


def test_a_key_may_be_a_part_of_a_set(r):
    for i in range(4):
        reserve(r, f"k{i}", "SEED", 7, "PART", i, 4)
    facts = info(r, "k3")
    assert facts["part of set"] == 3 and facts["parts of set"] == 4
    text = "ERR the item belongs to another part of the set"
    for n in range(100):  # each item belongs to one of them
        replies = [r("TAMIS.ADD", f"k{i}", f"item{n}")[0] for i in range(4)]
        assert sorted(replies, key=str) == [1] + [Error(text)] * 3
        assert sum(r("TAMIS.HAS", f"k{i}", f"item{n}")[0] for i in range(4)) == 1
        assert sum(r("TAMIS.COUNT", f"k{i}", f"item{n}")[0] for i in range(4)) == 1
    assert sum(info(r, f"k{i}")["keys"] for i in range(4)) == 100
    assert sum(r("TAMIS.REMOVE", f"k{i}", "item5")[0] for i in range(4)) == 1
    copy = r("DUMP", "k2")
    assert r("RESTORE", "again", 0, copy) == "OK"
    assert info(r, "again")["part of set"] == 2
    assert r("TAMIS.RESTORE", "file", r("TAMIS.DUMP", "k2")) == "OK"
    assert info(r, "file")["part of set"] == 2


@pytest.mark.parametrize("words", [("PART",), ("PART", 1), ("PART", 4, 4), ("PART", 0, 3), ("PART", -1, 4),
                                   ("PART", 0, 131072), ("PART", "x", 4)])
def test_impossible_parts_are_refused(r, words):
    reply = r("TAMIS.RESERVE", "k", "ERROR", 0.1, "CAPACITY", 10, *words)
    assert reply == Error("ERR PART needs i and P: P a power of two up to 65536, i from 0 to P - 1")
    assert isinstance(r("TAMIS.RESERVE", "k", "ERROR", 0.1, "CAPACITY", 10, "TIMEOUT", 5, "PART", 0, 2), Error)


def test_a_request_is_done_once(r):
    reserve(r, "k")
    assert r("TAMIS.ADD", "k", "REQUEST", "me", 1, "ITEMS", "a", "b", "a") == [1, 1, 0]
    for _ in range(3):  # the reply of the first time, and no change
        assert r("TAMIS.ADD", "k", "REQUEST", "me", 1, "ITEMS", "a", "b", "a") == [1, 1, 0]
    assert r("TAMIS.COUNT", "k", "a", "b") == [2, 1]
    assert r("TAMIS.ADD", "k", "REQUEST", "you", 1, "ITEMS", "a") == [0]  # each client has its own numbers
    assert r("TAMIS.REMOVE", "k", "REQUEST", "me", 2, "ITEMS", "a", "z") == [1, 0]
    assert r("TAMIS.REMOVE", "k", "REQUEST", "me", 2, "ITEMS", "a", "z") == [1, 0]
    assert r("TAMIS.COUNT", "k", "a") == [2]
    assert r("TAMIS.ADD", "k", "REQUEST", "me", 1, "ITEMS", "a", "b", "a").startswith("DONE ")
    assert r("TAMIS.REMOVE", "k", "REQUEST", "me", 2, "ITEMS", "a") == Error("ERR a request of this number had other items")
    assert r("TAMIS.ADD", "k", "REQUEST", "me", 2, "ITEMS", "a", "z") == Error("ERR a request of this number had other items")
    assert r("TAMIS.ADD", "k", "REQUEST", "me", 9, "ITEMS", "c") == [1]  # numbers may be left out
    assert info(r, "k")["request clients"] == 2


def test_saturated_removals_are_replied_again(r):
    reserve(r, "k")
    r("TAMIS.ADD", "k", *["x"] * 1000)
    for _ in range(2):
        assert r("TAMIS.REMOVE", "k", "REQUEST", "me", 1, "ITEMS", "x", "y") == [-1, 0]


def test_a_refused_request_is_done_once_too(r):
    reserve(r, "k", "PART", 0, 2, "SEED", 3)
    owned = [f"i{n}" for n in range(40) if r("TAMIS.ADD", "k", f"i{n}") == [1]]
    other = next(f"i{n}" for n in range(40) if f"i{n}" not in owned)
    words = ("TAMIS.ADD", "k", "REQUEST", "me", 1, "ITEMS", owned[0], other, owned[1])
    text = Error("ERR the item belongs to another part of the set")
    for _ in range(2):
        assert r(*words) == [0, text]
    assert r("TAMIS.COUNT", "k", owned[0], owned[1]) == [2, 1]


@pytest.mark.parametrize("words, text", [
    (("REQUEST", "me", 0, "ITEMS", "a"), "ERR the number of a REQUEST is 1, 2, ..."),
    (("REQUEST", "me", "x", "ITEMS", "a"), "ERR the number of a REQUEST is 1, 2, ..."),
    (("REQUEST", "", 1, "ITEMS", "a"), "ERR the client of a REQUEST is 1 to 32 bytes"),
    (("REQUEST", "c" * 33, 1, "ITEMS", "a"), "ERR the client of a REQUEST is 1 to 32 bytes"),
    (("REQUEST", "me", 1, "ITEMS", *["a"] * 4097), "ERR a REQUEST has at most 4096 items"),
    (("REQUEST", "me", 1, "a"), "ERR REQUEST client n needs ITEMS item ... behind it"),
    (("REQUEST", "me", 1, "ITEMS"), "ERR REQUEST client n needs ITEMS item ... behind it"),
    (("REQUEST", "me", 1, "AT", 100, 0, 2, "e", "f", "g"), "ERR AT is for replicas and append-only files"),
    (("REQUEST", "me", 1, "AT", 100, 0, 2, "ITEMS", "e", "f"), "ERR AT is for replicas and append-only files"),
])
def test_wrong_requests_are_refused(r, words, text):
    reserve(r, "k")
    assert r("TAMIS.ADD", "k", *words) == Error(text)
    assert r("TAMIS.REMOVE", "k", *words) == Error(text)
    assert info(r, "k")["keys"] == 0


def test_no_item_is_taken_for_an_option(r):
    """Whatever the first items are called: all of them are added, and a replica has them, too."""
    with Server() as replica:
        s = replica.wire()
        s("REPLICAOF", "127.0.0.1", r("CONFIG", "GET", "port")[1].decode())
        until(lambda: b"master_link_status:up" in s("INFO", "replication"))
        reserve(r, "k")
        words = ["AT", "100", "0", "2", "e", "f", "g", "h", "ITEMS", "REQUEST"]
        for n in range(len(words)):
            items = words[n:] + words[:n]
            assert r("TAMIS.ADD", "k", "REQUEST", "me", n + 1, "ITEMS", *items) == [int(n == 0)] * 10
            assert r("TAMIS.COUNT", "k", *words) == [n + 1] * 10
        for word in ("REQUEST", "AT", "ITEMS"):  # alone, and before others
            assert r("TAMIS.ADD", "k", word) == [0]
            assert r("TAMIS.ADD", "k", word, "a" + word) == [0, 1]
        assert r("TAMIS.ADD", "k", "AT", "1", "0", "1", "ITEMS", "x", "y") == [0, 1, 0, 0, 0, 1, 1]
        r("WAIT", 1, 10000)
        assert s("DEBUG", "DIGEST-VALUE", "k") == r("DEBUG", "DIGEST-VALUE", "k")


def test_the_number_of_clients_is_bounded(r):
    reserve(r, "k")
    for n in range(200):
        r("TAMIS.ADD", "k", "REQUEST", f"client{n}", 1, "ITEMS", "a")
    assert info(r, "k")["request clients"] == 64
    r("TAMIS.ADD", "k", "REQUEST", "client199", 1, "ITEMS", "a")  # it is remembered
    assert r("TAMIS.COUNT", "k", "a") == [200]
    used = r("MEMORY", "USAGE", "k")
    for n in range(200, 400):
        r("TAMIS.ADD", "k", "REQUEST", f"client{n}", 1, "ITEMS", "a")
    assert r("MEMORY", "USAGE", "k") <= used + 1000


def test_silent_clients_are_forgotten():
    day = 86400 * 1000
    times = {f"c{n}": 1000 + n for n in range(10)}
    times["new"] = 1005 + day
    with Server(appendonly="yes") as server:
        reserve(server.wire(), "k")
        server.stop()
        log = glob.glob(os.path.join(server.folder, "appendonlydir", "*.incr.aof"))[0]
        with open(log, "ab") as file:  # only there, and from a primary, may a command say when it was
            for client, ms in times.items():
                file.write(Wire.pack("TAMIS.ADD", "k", "REQUEST", client, 1, "AT", ms, 0, 1, "ITEMS", "a"))
        server.start()
        assert info(server.wire(), "k")["request clients"] == 6
        assert server.wire()("TAMIS.COUNT", "k", "a") == [11]


def ask_again(r):
    """The replies of the last requests, and the counts."""
    return [r("TAMIS.ADD", "k", "REQUEST", "one", 50, "ITEMS", "a49", "b", "a49"),
            r("TAMIS.REMOVE", "k", "REQUEST", "two", 3, "ITEMS", "a1", "z"),
            r("TAMIS.COUNT", "k", *[f"a{n}" for n in range(50)], "b"), r("DEBUG", "DIGEST-VALUE", "k")]


def make_requests(r):
    reserve(r, "k", "PART", 0, 1)
    for n in range(50):
        r("TAMIS.ADD", "k", "REQUEST", "one", n + 1, "ITEMS", f"a{n}", "b", f"a{n}")
    r("TAMIS.REMOVE", "k", "REQUEST", "two", 3, "ITEMS", "a1", "z")
    return ask_again(r)


@pytest.mark.parametrize("options", [{"save": "3600 1"}, {"appendonly": "yes"},
                                     {"appendonly": "yes", "aof-use-rdb-preamble": "no"}])
def test_requests_survive_a_restart(options):
    with Server(**options, appendfsync="always") as server:  # it is killed, and must have written what it confirmed
        r = server.wire()
        before = make_requests(r)
        if "appendonly" in options and len(options) == 2:
            r("BGREWRITEAOF")
            until(lambda: b"aof_rewrite_in_progress:0" in r("INFO", "persistence"))
        if "appendonly" not in options:
            r("SAVE")
        server.restart(kill=True)
        assert ask_again(server.wire()) == before


def test_requests_are_in_replicas_copies_and_dumps(r):
    with Server() as replica:
        port = r("CONFIG", "GET", "port")[1].decode()
        reserve(r, "early")
        r("TAMIS.ADD", "early", "REQUEST", "me", 1, "ITEMS", "a")
        s = replica.wire()
        assert s("REPLICAOF", "127.0.0.1", port) == "OK"
        until(lambda: b"master_link_status:up" in s("INFO", "replication"))
        before = make_requests(r)
        r("WAIT", 1, 10000)
        assert s("DEBUG", "DIGEST-VALUE", "k") == r("DEBUG", "DIGEST-VALUE", "k")
        s("REPLICAOF", "NO", "ONE")
        assert ask_again(s) == before
        assert s("TAMIS.ADD", "early", "REQUEST", "me", 1, "ITEMS", "a") == [1]
        assert s("TAMIS.COUNT", "early", "a") == [1]
    dump = r("DUMP", "k")
    r("DEL", "k")
    assert r("RESTORE", "k", 0, dump) == "OK"
    assert ask_again(r) == before
    r("COPY", "k", "l")
    r("RENAME", "l", "k")
    assert ask_again(r) == before


def test_a_refused_request_is_no_error_on_a_replica(r, server):
    """A server reports an error in what its primary sends as critical, and can be told to stop for it."""
    with Server() as replica:
        s = replica.wire()
        assert s("REPLICAOF", "127.0.0.1", server.port) == "OK"
        until(lambda: b"master_link_status:up" in s("INFO", "replication"))
        r("TAMIS.RESERVE", "k", "ERROR", 0.01, "CAPACITY", 10)
        full = r("TAMIS.ADD", "k", "REQUEST", "me", 1, "ITEMS", *(f"i{i}" for i in range(1000)))
        assert full[-1] == Error("ERR the set is full")
        r("BF.RESERVE", "b", "0.01", 2, "NONSCALING")
        assert r("BF.MADD", "b", "a", "b", "c")[-1] == Error("ERR non scaling filter is full")
        assert r("WAIT", 1, 10000) == 1
        assert s("DEBUG", "DIGEST-VALUE", "k", "b") == r("DEBUG", "DIGEST-VALUE", "k", "b")
        assert "CRITICAL" not in replica.log()
        assert s("REPLICAOF", "NO", "ONE") == "OK"
        again = s("TAMIS.ADD", "k", "REQUEST", "me", 1, "ITEMS", *(f"i{i}" for i in range(1000)))
        assert again == full
        s.close()
