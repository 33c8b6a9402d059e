"""TAMIS.MERGE in a thread, and what other clients do meanwhile."""
import time

import pytest
from server import Error, Server, Simple, until

SIZE = 20_000_000  # a merge of two such sets takes about 0.1 s, and longer on a machine that is busy


def blocked(wire):
    text = wire("INFO", "clients").decode()
    return int(text.split("blocked_clients:")[1].split("\r")[0])


def send(wire, other, *words):
    """Send a command that waits, and come back when its client is known to wait."""
    before = blocked(other)
    wire.socket.sendall(wire.pack(*words))
    until(lambda: blocked(other) == before + 1)


@pytest.fixture(scope="module")
def big():
    with Server() as server:
        yield server
        assert server.is_alive()


def fill(r):
    r("FLUSHALL")
    r("TAMIS.RESERVE", "into", "ERROR", 0.001, "CAPACITY", SIZE, "COUNTING")
    r("TAMIS.RESERVE", "from", "LIKE", "into")
    r("TAMIS.ADD", "into", "a", "both")
    r("TAMIS.ADD", "from", "b", "both")


@pytest.fixture
def clients(big):
    """Three clients of a server with `into` (has a, both) and `from` (has b, both)."""
    wires = [big.wire() for _ in range(3)]
    fill(wires[0])
    yield wires
    last = big.wire()
    assert blocked(last) == 0
    last.close()
    for wire in wires:
        wire.close()


def test_the_server_goes_on(clients):
    r, other, _ = clients
    usage = r("MEMORY", "USAGE", "into")
    other("COPY", "into", "at-once")
    other("MULTI")  # a client that cannot wait gets it at once
    other("TAMIS.MERGE", "at-once", "from")
    assert other("EXEC") == ["OK"]
    send(r, other, "TAMIS.MERGE", "into", "from")
    assert other("TAMIS.HAS", "into", "a", "b") == [1, 0]  # it has not happened yet
    assert other("TAMIS.COUNT", "from", "a", "b") == [0, 1]
    assert blocked(other) == 1
    assert r.read() == Simple("OK")
    assert r("TAMIS.COUNT", "into", "a", "b", "both", "z") == [1, 1, 2, 0]
    assert r("DEBUG", "DIGEST-VALUE", "into") == r("DEBUG", "DIGEST-VALUE", "at-once")
    until(lambda: r("MEMORY", "USAGE", "into") == usage)  # what was replaced is freed by a thread
    assert dict(zip(*[iter(r("TAMIS.INFO", "into"))] * 2))["keys"] == 4


def test_who_changes_a_key_waits(clients):
    r, other, third = clients
    send(r, other, "TAMIS.MERGE", "into", "from")
    send(third, other, "TAMIS.ADD", "into", "late", "b")
    assert r.read() == "OK" and third.read() == [1, 0]
    assert r("TAMIS.COUNT", "into", "a", "b", "late") == [1, 2, 1]
    send(r, other, "TAMIS.MERGE", "into", "from")
    send(third, other, "TAMIS.REMOVE", "from", "b")
    assert r.read() == "OK" and third.read() == [1]
    assert r("TAMIS.COUNT", "into", "b") == [3] and r("TAMIS.COUNT", "from", "b") == [0]


def test_a_request_that_had_to_wait_is_done_once(clients):
    r, other, third = clients
    send(r, other, "TAMIS.MERGE", "into", "from")
    words = ("TAMIS.ADD", "into", "REQUEST", "me", 1, "ITEMS", "late")
    send(third, other, *words)
    assert r.read() == "OK" and third.read() == [1] and third(*words) == [1]
    assert r("TAMIS.COUNT", "into", "late") == [1]


@pytest.mark.parametrize("words", [("MULTI",), ("EVAL", "return redis.call('TAMIS.ADD', KEYS[1], 'late')", 1)])
@pytest.mark.parametrize("key", ["into", "from"])
def test_a_transaction_does_not_wait(clients, words, key):
    """It is done before the merge, which sees it."""
    r, other, _ = clients
    send(r, other, "TAMIS.MERGE", "into", "from")
    if words[0] == "EVAL":
        assert other(*words, key) == [1]
    else:
        other("MULTI")
        other("TAMIS.ADD", key, "late")
        assert other("EXEC") == [[1]]
    assert other("TAMIS.COUNT", key, "late") == [1]
    assert r.read() == "OK"
    assert r("TAMIS.COUNT", "into", "a", "b", "both", "late") == [1, 1, 2, 1]


@pytest.mark.parametrize("words, reply", [
    (("DEL", "into"), Error("ERR no such key")), (("UNLINK", "from"), Error("ERR no such key")),
    (("FLUSHALL",), Error("ERR no such key")), (("FLUSHALL", "ASYNC"), Error("ERR no such key")),
    (("SWAPDB", 0, 1), Error("ERR no such key")), (("MOVE", "from", 2), Error("ERR no such key")),
    (("RENAME", "into", "elsewhere"), Error("ERR no such key")),
    (("SET", "from", "x"), Error("WRONGTYPE Operation against a key holding the wrong kind of value")),
    (("PEXPIRE", "from", 1), Error("ERR no such key")), (("DEBUG", "RELOAD"), Simple("OK")),
    (("BGSAVE",), Simple("OK")), (("PEXPIRE", "into", 100000), Simple("OK"))])
def test_keys_that_go_away(clients, words, reply):
    """The merge happens when it replies: with the keys that are there then."""
    r, other, _ = clients
    for _ in range(10):  # this program may be stopped for longer than a merge takes: then it is not tested
        send(r, other, "TAMIS.MERGE", "into", "from")
        assert not isinstance(other(*words), Error)
        got = r.read()
        if got == reply:
            break
        assert got == "OK"
        fill(r)
    assert got == reply
    if words == ("RENAME", "into", "elsewhere"):
        assert r("TAMIS.COUNT", "elsewhere", "a", "b") == [1, 0]
        assert r("TAMIS.MERGE", "elsewhere", "from") == "OK"
    if words[0] == "PEXPIRE" and words[1] == "into":
        assert 0 < r("PTTL", "into") <= 100000
    if words[0] == "SWAPDB":
        assert r("SWAPDB", 0, 1) == "OK"
        assert r("TAMIS.COUNT", "into", "a", "b") == [1, 0]
    r("FLUSHALL")


def test_another_value_under_the_same_name(clients):
    r, other, _ = clients
    other("TAMIS.RESERVE", "next", "LIKE", "into")
    other("TAMIS.ADD", "next", "n")
    send(r, other, "TAMIS.MERGE", "into", "from")
    assert other("RENAME", "next", "into") == "OK"
    assert r.read() == "OK"
    assert r("TAMIS.COUNT", "into", "a", "b", "both", "n") == [0, 1, 1, 1]


def test_merges_of_the_same_keys_take_turns(clients):
    r, other, third = clients
    r("TAMIS.RESERVE", "c", "LIKE", "into")
    r("TAMIS.ADD", "c", "c")
    send(r, other, "TAMIS.MERGE", "into", "from")
    send(third, other, "TAMIS.MERGE", "into", "c")
    other.socket.sendall(other.pack("TAMIS.MERGE", "c", "from"))
    assert [r.read(), third.read(), other.read()] == ["OK"] * 3
    assert r("TAMIS.COUNT", "into", "a", "both")[0] == 1
    assert r("TAMIS.COUNT", "into", "c") == [1]
    assert r("TAMIS.COUNT", "c", "b", "both", "c") == [1, 1, 1]
    assert r("TAMIS.COUNT", "into", "b")[0] in (1, 2)  # c may have been merged before or after it got b
    assert r("TAMIS.MERGE", "into", "into").startswith("ERR ")


def test_clients_that_go_away(big, clients):
    r, other, third = clients
    gone = big.wire()
    send(gone, other, "TAMIS.MERGE", "into", "from")
    send(r, other, "TAMIS.MERGE", "into", "from")  # waits for it
    gone.close()
    third.socket.sendall(third.pack("TAMIS.ADD", "into", "late"))
    assert r.read() == "OK" and third.read() == [1]
    count = r("TAMIS.COUNT", "into", "b")[0]
    assert count in (1, 2) and r("TAMIS.COUNT", "into", "late") == [1]


def test_a_server_that_becomes_a_replica(clients):
    r, other, _ = clients
    send(r, other, "TAMIS.MERGE", "into", "from")
    assert other("REPLICAOF", "127.0.0.1", 1) == "OK"
    assert r.read().startswith("UNBLOCKED")
    assert other("TAMIS.COUNT", "into", "a", "b") == [1, 0]
    assert other("REPLICAOF", "NO", "ONE") == "OK"
    until(lambda: other("TAMIS.MERGE", "into", "from") == "OK")


def test_states_with_a_timeout(clients):
    r, other, _ = clients
    r("TAMIS.STATE.RESERVE", "s", "ERROR", 0.001, "CAPACITY", SIZE, "VALUES", 4, "TIMEOUT", 600)
    r("TAMIS.STATE.RESERVE", "t", "LIKE", "s")
    r("TAMIS.STATE.PUT", "s", "a", 1)
    r("TAMIS.STATE.PUT", "t", "b", 2)
    send(r, other, "TAMIS.MERGE", "s", "t")
    assert other("TAMIS.STATE.GET", "s", "a", "b") == [1, None]
    assert other("TAMIS.STATE.MOVE", "s", 1, 3, "a") == [Simple("OK")]  # waits
    assert r.read() == "OK"
    assert r("TAMIS.STATE.GET", "s", "a", "b") == [3, 2]
    assert r("TAMIS.STATE.GET", "t", "a", "b") == [None, 2]


@pytest.mark.slow
def test_replicas_and_files_see_the_same(big, clients):
    r, other, third = clients
    with Server(replicaof=f"127.0.0.1 {big.port}") as replica:
        s = replica.wire()
        until(lambda: b"master_link_status:up" in s("INFO", "replication"))
        send(r, other, "TAMIS.MERGE", "into", "from")
        send(third, other, "TAMIS.ADD", "into", "late")
        other("MULTI")
        other("TAMIS.ADD", "from", "soon")
        other("EXEC")
        assert r.read() == "OK" and third.read() == [1]
        with Server(replicaof=f"127.0.0.1 {big.port}") as second:
            send(r, other, "TAMIS.MERGE", "into", "from")  # while a copy of all data is made
            t = second.wire()
            until(lambda: b"master_link_status:up" in t("INFO", "replication"), 60)
            assert r.read() == "OK"
            for wire in (s, t):
                until(lambda wire=wire: all(wire("DEBUG", "DIGEST-VALUE", key) == r("DEBUG", "DIGEST-VALUE", key)
                                            for key in ("into", "from")))
            t.close()
        s.close()


@pytest.mark.slow
def test_an_append_only_file_has_it():
    with Server(appendonly="yes") as server:
        r, other = server.wire(), server.wire()
        r("TAMIS.RESERVE", "into", "ERROR", 0.001, "CAPACITY", SIZE, "COUNTING")
        r("TAMIS.RESERVE", "from", "LIKE", "into")
        r("TAMIS.ADD", "from", "b")
        send(r, other, "TAMIS.MERGE", "into", "from")
        assert other("TAMIS.ADD", "into", "late") == [1]
        assert r.read() == "OK"
        digest = r("DEBUG", "DIGEST-VALUE", "into")
        server.restart()
        r = server.wire()
        assert r("DEBUG", "DIGEST-VALUE", "into") == digest
        assert r("TAMIS.COUNT", "into", "b", "late") == [1, 1]


@pytest.mark.slow
def test_many_clients_at_random(big):
    """Adds are counted exactly, whatever waits for what."""
    wires = [big.wire() for _ in range(6)]
    r = wires[0]
    r("FLUSHALL")
    r("TAMIS.RESERVE", "s", "ERROR", 1e-9, "CAPACITY", 100_000, "COUNTING")
    r("TAMIS.RESERVE", "empty", "LIKE", "s")
    r("TAMIS.RESERVE", "t", "LIKE", "s")
    end, added, merged = time.monotonic() + 4, 0, 0
    while time.monotonic() < end:
        commands = [("TAMIS.MERGE", "s", "empty"), ("TAMIS.ADD", "s", *(f"k{added + i}" for i in range(10))),
                    ("TAMIS.MERGE", "t", "empty"), ("TAMIS.ADD", "s", *(f"k{added + i}" for i in range(10, 20))),
                    ("TAMIS.ADD", "empty", "x"), ("TAMIS.REMOVE", "empty", "x")]
        for wire, words in zip(wires, commands):
            wire.socket.sendall(wire.pack(*words))
        replies = [wire.read() for wire in wires]
        assert replies[0] == replies[2] == "OK" and replies[1] == replies[3] == [1] * 10 and replies[4] == [1]
        if replies[5] == [0]:
            assert r("TAMIS.REMOVE", "empty", "x") == [1]
        added, merged = added + 20, merged + 2
    assert merged > 20
    assert set(r("TAMIS.COUNT", "s", *(f"k{i}" for i in range(added)))) == {1}
    for wire in wires:
        wire.close()
