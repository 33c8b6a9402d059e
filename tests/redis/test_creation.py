"""Keys of shapes that were not made before: planned in a thread, while the server goes on."""
from pathlib import Path

from server import Error, Server, Simple

RESERVES = (("BF.RESERVE", ("0.0123", 1234), "ERR item exists"), ("BF.RESERVE", ("0.2", 1234, "NONSCALING"), "ERR item exists"),
            ("CF.RESERVE", (12345,), "ERR item exists"), ("CF.RESERVE", (12346, "EXPANSION", 0), "ERR item exists"),
            ("TAMIS.RESERVE", ("ERROR", 0.0123, "CAPACITY", 1234, "GROWTO", 99999), "ERR the key exists already"),
            ("TAMIS.STATE.RESERVE", ("ERROR", 0.01, "CAPACITY", 1234, "VALUES", 3), "ERR the key exists already"))


def test_the_first_one_gets_the_key():
    with Server() as server:
        wires = [server.wire() for _ in range(4)]
        for command, words, text in RESERVES:
            for wire in wires:
                wire.socket.sendall(wire.pack(command, "k", *words))
            assert sorted(wire.read() for wire in wires) == sorted([Simple("OK")] + 3 * [Error(text)])
            assert wires[0]("DEL", "k") == 1
            assert wires[0](command, "k", *words) == "OK"  # its shape is known
            wires[0]("DEL", "k")


def test_a_key_that_is_made_by_others_meanwhile(r, server):
    other = server.wire()
    for i in range(20):
        r.socket.sendall(r.pack("CF.RESERVE", "k", 2345 + i))
        other("SET", "k", "x")
        assert r.read() in ("OK", "WRONGTYPE Operation against a key holding the wrong kind of value")
        assert other("GET", "k") == b"x"
        other("DEL", "k")
    r.socket.sendall(r.pack("BF.INSERT", "k", "CAPACITY", 3456, "ITEMS", "a"))
    second = other("BF.INSERT", "k", "CAPACITY", 3457, "ITEMS", "a", "b")
    first = r.read()
    assert sorted([first[0], second[0]]) == [0, 1] and second[1] == 1
    assert r("BF.CARD", "k") == 2
    other.close()


def test_clients_that_go_away_leave_nothing(r, server):
    for i in range(20):
        gone = server.wire()
        gone.socket.sendall(gone.pack("CF.RESERVE", f"gone{i}", 4567 + i))
        gone.close()
    r("MULTI")
    r("CF.RESERVE", "k", 5678)
    r("CF.ADD", "k", "a")
    assert r("EXEC") == ["OK", 1]
    assert r("EVAL", "return redis.call('BF.RESERVE', KEYS[1], '0.0321', 6789)", 1, "e") == "OK"
    assert r("PING") == "PONG"


def test_many_at_once_share_a_few_threads(server):
    """However many clients ask, the server gets four threads more, and everybody gets an answer."""
    tasks = Path(f"/proc/{server.process.pid}/task")

    def threads():
        return len(list(tasks.iterdir()))

    wires = [server.wire() for _ in range(60)]
    for i, wire in enumerate(wires):
        wire.socket.sendall(wire.pack("TAMIS.STATE.RESERVE", f"many{i}", "ERROR", 0.01, "CAPACITY", 7000 + i, "VALUES", 5))
    most = threads()
    for wire in wires:
        assert wire.read() == "OK"
        most = max(most, threads())
    assert most <= 20  # 1 of the server, 3 for slow work, up to 4 of its allocator, 4 of ours
    for i, wire in enumerate(wires):
        assert wire("DEL", f"many{i}") == 1
        wire.close()


def test_what_cannot_be_made_is_said(r):
    for _ in range(2):
        assert r("BF.RESERVE", "k", "1e-13", 77) == Error("ERR could not create filter")
        assert r("TAMIS.RESERVE", "k", "ERROR", 0.01, "CAPACITY", 77, "KIND", "nokind").startswith("ERR ")
        assert r("BF.RESERVE", "k", "0.0000000001", 1 << 30, "NONSCALING") == Error("ERR Insufficient memory to create filter")
    assert r("EXISTS", "k") == 0


def test_shapes_take_no_memory(r):
    def used():
        text = r("INFO", "memory").decode()
        return int(text.split("used_memory:")[1].split("\r")[0])
    before = used()
    for i in range(5):
        assert r("CF.RESERVE", "large", 300_000_000 + i) == "OK"
        assert used() > before + 300_000_000
        assert r("DEL", "large") == 1
    assert used() < before + 1_000_000


def test_parts_that_were_planned_ahead_are_the_same_on_a_replica(server):
    r = server.wire()
    with Server(replicaof=f"127.0.0.1 {server.port}") as replica:
        s = replica.wire()
        for family, add in (("BF", "BF.MADD"), ("CF", "CF.INSERT")):
            words = ("ITEMS",) if family == "CF" else ()
            for at in range(0, 20000, 100):
                r(add, family, *words, *(f"i{i}" for i in range(at, at + 100)))
            assert r(f"{family}.INFO", family)[5] >= 2
        assert r("WAIT", 1, 10000) == 1
        for key in ("BF", "CF"):
            assert r("DEBUG", "DIGEST-VALUE", key) == s("DEBUG", "DIGEST-VALUE", key)
        s.close()
    r.close()
