"""Values that go through files, replicas and copies: they answer the same afterwards."""
import random
import time

import pytest
from server import Error, Server, until

N = 20000


def fill(r, n=N):
    """Keys of all families, with several parts, removals, floods and timeouts."""
    r("BF.RESERVE", "bf", "0.01", 100)
    r("BF.RESERVE", "bf-fixed", "0.001", n, "NONSCALING")
    r("CF.RESERVE", "cf", 50)
    r("CF.RESERVE", "cf-fixed", n, "EXPANSION", 0)
    r("TAMIS.RESERVE", "set", "ERROR", 0.001, "CAPACITY", 100, "GROWTO", 2 * n, "COUNTING")
    r("TAMIS.RESERVE", "set-like", "LIKE", "set")
    r("TAMIS.RESERVE", "timed", "ERROR", 0.001, "CAPACITY", n, "TIMEOUT", 1000)
    r("TAMIS.STATE.RESERVE", "states", "ERROR", 0.001, "CAPACITY", 100, "GROWTO", n, "VALUES", 8, "TIMEOUT", 1000)
    commands = []
    for at in range(0, n, 50):
        some = [f"i{i}" for i in range(at, at + 50)]
        commands += [("BF.MADD", "bf", *some), ("BF.INSERT", "bf-fixed", "ITEMS", *some),
                     ("CF.INSERT", "cf", "ITEMS", *some), ("CF.INSERTNX", "cf-fixed", "ITEMS", *some),
                     ("TAMIS.ADD", "set", *some), ("TAMIS.ADD", "timed", *some),
                     ("TAMIS.ADD", "set-like", some[0]),
                     ("TAMIS.STATE.PUT", "states", *(word for item in some for word in (item, len(item) % 8))),
                     ("CF.ADD", "cf", "flood"), ("CF.DEL", "cf", some[7]), ("TAMIS.REMOVE", "set", some[9], "no"),
                     ("BF.ADD", "bf-default", some[1]), ("CF.ADD", "cf-default", some[1]),
                     ("CF.DEL", "cf", f"absent{at}"), ("TAMIS.STATE.MOVE", "states", "*", 6, some[3]),
                     ("TAMIS.STATE.DROP", "states", "*", some[4])]
    commands.append(("TAMIS.MERGE", "set", "set-like"))
    commands.append(("EVAL", "for i = 1, 300 do redis.call('BF.ADD', KEYS[1], i) redis.call('CF.ADD', KEYS[2], i) end",
                     2, "bf-script", "cf-script"))
    bad = [reply for reply in r.many(commands) if isinstance(reply, Error)]
    assert not bad, bad[:3]


KEYS = ("bf", "bf-fixed", "cf", "cf-fixed", "set", "set-like", "timed", "states", "bf-default", "cf-default",
        "bf-script", "cf-script")


def answers(r, n=N):
    """What can be asked: keys that are there and keys that are not, so that the false positives are compared, too."""
    commands = []
    for at in range(0, 2 * n, 100):
        some = [f"i{i}" for i in range(at, at + 100)]
        commands += [("BF.MEXISTS", "bf", *some), ("BF.MEXISTS", "bf-fixed", *some), ("CF.MEXISTS", "cf", *some),
                     ("CF.MEXISTS", "cf-fixed", *some), ("TAMIS.COUNT", "set", *some), ("TAMIS.HAS", "timed", *some),
                     ("TAMIS.STATE.GET", "states", *some), ("BF.MEXISTS", "bf-default", *some),
                     ("CF.MEXISTS", "cf-default", *some)]
    commands += [("CF.COUNT", "cf", f"i{i}") for i in range(0, n, 7)]
    commands += [("BF.CARD", "bf"), ("CF.COUNT", "cf", "flood"), ("BF.INFO", "bf", "FILTERS")]
    return list(r.many(commands))


def digests(r):
    """Time stands still meanwhile: ticks would change the timed keys."""
    return r("DEBUG", "DIGEST-VALUE", *(key for key in KEYS if key not in ("timed", "states")))


def changes_go_on(r):
    """After a life in a file, a key takes changes as before."""
    assert r("BF.ADD", "bf", "new") in (0, 1) and r("BF.EXISTS", "bf", "new") == 1
    assert r("CF.ADD", "cf", "new") == 1 and r("CF.DEL", "cf", "new") == 1
    assert r("TAMIS.ADD", "set", "new") and r("TAMIS.REMOVE", "set", "new") == [1]


def test_copy_and_dump_restore(r):
    fill(r, 5000)
    for key in KEYS:
        assert r("COPY", key, "copy-" + key) == 1
        assert r("RESTORE", "restored-" + key, 0, r("DUMP", key)) == "OK"
        if key not in ("timed", "states"):
            one, two, three = r("DEBUG", "DIGEST-VALUE", key, "copy-" + key, "restored-" + key)
            assert one == two == three
        assert r("MEMORY", "USAGE", "copy-" + key) > 0
    only_here = [f"only here {i}" for i in range(100)]
    r("BF.MADD", "copy-bf", *only_here)
    assert sum(r("BF.MEXISTS", "bf", *only_here)) < 10 and sum(r("BF.MEXISTS", "copy-bf", *only_here)) == 100
    r("RENAME", "copy-timed", "renamed")
    assert all(r("TAMIS.HAS", "renamed", "i1", "i2"))
    assert r("SWAPDB", 0, 1) == "OK"
    r("SELECT", 1)
    assert r("BF.EXISTS", "bf", "i1") == 1
    r("SELECT", 0)
    r("SWAPDB", 0, 1)


def test_memory_comes_back():
    """Lazily or not, freed keys leave nothing behind. (The server keeps a slow log and histograms, if it may.)

    The server's own buffers for connections come and go, 17 KiB each, so each way to free is taken several times: what
    it leaves behind would add up.
    """
    room = 40000
    with Server(**{"slowlog-log-slower-than": -1, "latency-tracking": "no"}) as server:
        r = server.wire()

        def used():
            lines = r("INFO", "memory").decode().split("\r\n")
            return int(next(line for line in lines if line.startswith("used_memory:")).split(":")[1])

        def fill_anew():
            wire = server.wire()
            fill(wire, 2000)
            wire.close()

        fill_anew()
        r("FLUSHALL", "SYNC")
        time.sleep(0.5)
        base = used()
        for how in (("FLUSHALL", "ASYNC"), ("FLUSHALL", "SYNC"), ("UNLINK", *KEYS), ("DEL", *KEYS)):
            for _ in range(5):
                fill_anew()
                assert used() > base + 2 * room
                r(*how)
            until(lambda: used() < base + room)
        r.close()


def test_an_rdb_file(tmp_path):
    with Server() as server:
        r = server.wire()
        fill(r, 5000)
        before, sums = answers(r, 5000), digests(r)
        assert r("SAVE") == "OK"
        r.close()
        server.restart(kill=True)
        r = server.wire()
        assert answers(r, 5000) == before
        assert digests(r) == sums
        assert r("DEBUG", "RELOAD") == "OK"
        assert digests(r) == sums
        changes_go_on(r)
        r.close()


@pytest.mark.slow
@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_an_append_only_file(preamble):
    with Server(appendonly="yes", **{"aof-use-rdb-preamble": preamble, "appendfsync": "no"}) as server:
        r = server.wire()
        fill(r, 5000)
        before, sums = answers(r, 5000), digests(r)
        r.close()
        server.restart()  # plays the commands again
        r = server.wire()
        assert answers(r, 5000) == before
        assert digests(r) == sums
        assert r("BGREWRITEAOF")
        until(lambda: b"aof_rewrite_in_progress:0" in r("INFO", "persistence") and
              b"aof_rewrite_scheduled:0" in r("INFO", "persistence"))
        assert b"aof_last_bgrewrite_status:ok" in r("INFO", "persistence")
        changes_go_on(r)
        sums = digests(r)
        r.close()
        server.restart()
        r = server.wire()
        assert digests(r) == sums
        changes_go_on(r)
        r.close()


def follow(replica, primary):
    wire = replica.wire()
    assert wire("REPLICAOF", "127.0.0.1", primary.port) == "OK"
    until(lambda: b"master_link_status:up" in wire("INFO", "replication"))
    return wire


def catch_up(primary, replica):
    primary("SET", "mark", str(time.monotonic()))
    mark = primary("GET", "mark")
    until(lambda: replica("GET", "mark") == mark)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100000])
def test_a_replica_that_is_promoted_answers_the_same(n):
    """One that followed all commands, and one that came late and got a file (without a disk)."""
    with Server(**{"repl-diskless-sync": "yes", "repl-diskless-sync-delay": 0}) as primary, \
         Server() as early, Server(**{"repl-diskless-load": "swapdb"}) as late:
        r, e = primary.wire(), follow(early, primary)
        fill(r, n)
        x = follow(late, primary)
        dump = [r("CF.SCANDUMP", "cf-default", 0)]
        while dump[-1][0] != 0:
            dump.append(r("CF.SCANDUMP", "cf-default", dump[-1][0]))
        for position, data in dump[:-1]:
            assert r("CF.LOADCHUNK", "loaded", position, data) == "OK"
        file = r("TAMIS.DUMP", "bf-fixed")
        r("TAMIS.RESERVE", "large", "ERROR", 0.0001, "CAPACITY", 1000000)
        assert r("TAMIS.RESTORE", "restored", r("TAMIS.DUMP", "large")) == "OK"  # in a thread
        assert r("TAMIS.RESTORE", "restored", file, "REPLACE") == "OK"
        catch_up(r, e)
        catch_up(r, x)
        assert r("DEBUG", "DIGEST-VALUE", "restored") == e("DEBUG", "DIGEST-VALUE", "restored")
        assert digests(r) == digests(e) == digests(x)
        assert r("DEBUG", "DIGEST-VALUE", "loaded") == e("DEBUG", "DIGEST-VALUE", "loaded")
        before = answers(r, n)
        primary.stop(kill=True)
        for wire, server in ((e, early), (x, late)):
            assert wire("REPLICAOF", "NO", "ONE") == "OK"
            assert answers(wire, n) == before
            assert wire("DEBUG", "DIGEST-VALUE", "loaded")
            changes_go_on(wire)
            assert "CRITICAL" not in server.log() and "Bad data" not in server.log()
            wire.close()
        r.close()


def test_full_filters_are_the_same_on_a_replica():
    """Copies take cells in a CF key of a fixed size, so the order of adds matters."""
    draw = random.Random(20)
    with Server() as primary, Server() as replica:
        r, e = primary.wire(), follow(replica, primary)
        for key in range(200):
            size = draw.choice((10, 50, 200))
            r("CF.RESERVE", key, size, "EXPANSION", 0)
            for _ in range(4):
                most = draw.randrange(1, 3 * size)
                items = [f"i{draw.randrange(most)}" for _ in range(draw.randrange(1, 4 * size))]
                r(draw.choice(("CF.INSERT", "CF.INSERTNX")), key, "ITEMS", *items)
        catch_up(r, e)
        keys = range(200)
        assert r("DEBUG", "DIGEST-VALUE", *keys) == e("DEBUG", "DIGEST-VALUE", *keys)
        r.close()
        e.close()


def test_a_replica_takes_no_item_that_its_primary_has_refused():
    """The primary has less memory for a key than the replica."""
    with Server(module_args=["max-key-bytes", 60000]) as primary, Server() as replica:
        r, e = primary.wire(), follow(replica, primary)
        r("BF.RESERVE", "b", "0.01", 100)
        r("CF.RESERVE", "c", 100)
        refused = 0
        for at in range(0, 30000, 100):
            some = [f"i{i}" for i in range(at, at + 100)]
            refused += sum(isinstance(one, Error) for one in r("BF.MADD", "b", *some, "i0"))
            refused += r("CF.INSERT", "c", "ITEMS", *some, "i0").count(-1)
        catch_up(r, e)
        assert refused > 10000
        assert e("BF.CARD", "b") == r("BF.CARD", "b")
        assert e("CF.INFO", "c")[5:8] == r("CF.INFO", "c")[5:8]  # parts, items
        r.close()
        e.close()


def test_a_replica_takes_no_value_that_its_primary_has_refused():
    """As above, for items with a value: whole commands are refused, and single items of a command."""
    with Server(module_args=["max-key-bytes", 30000]) as primary, Server() as replica:
        r, e = primary.wire(), follow(replica, primary)
        assert r("TAMIS.STATE.RESERVE", "s", "ERROR", 0.0001, "CAPACITY", 100, "VALUES", 4, "GROWTO", 100000) == "OK"
        refused, kinds = 0, set()
        for at in range(0, 20000, 50):
            words = [word for i in range(at, at + 50) for word in (f"i{i}", i % 4)]
            replies = r("TAMIS.STATE.PUT", "s", "i1", 2, *words, "i0", 0)  # a conflict, an item that is there
            refused += sum(one == "ERR Insufficient memory" for one in replies)
            kinds |= set(replies)
        catch_up(r, e)
        assert refused > 5000 and {"OK", "CONFLICT", "ERR Insufficient memory"} <= kinds
        items = [f"i{i}" for i in range(20000)]
        ours, theirs = (wire("TAMIS.STATE.GET", "s", *items) for wire in (r, e))
        assert sum(one != other for one, other in zip(ours, theirs)) == 0
        assert e("TAMIS.STATE.TALLY", "s") == r("TAMIS.STATE.TALLY", "s")
        assert ours.count(None) > 1000 and ours.count(3) > 100
        r.close()
        e.close()


def test_a_replica_ages_with_its_primary_and_by_its_ticks_alone():
    with Server(**{"repl-diskless-sync-delay": 0}) as primary, Server() as replica:
        r, e = primary.wire(), follow(replica, primary)
        r("TAMIS.RESERVE", "timed", "ERROR", 0.001, "CAPACITY", 1000, "TIMEOUT", 0.4)
        for _ in range(50):  # on a machine that is busy, the items may be old when the replica is asked
            start = time.monotonic()
            r("TAMIS.ADD", "timed", *(f"i{i}" for i in range(500)))
            catch_up(r, e)
            has = e("TAMIS.HAS", "timed", *(f"i{i}" for i in range(500)))
            if time.monotonic() - start < 0.4:
                break
        assert all(has)
        until(lambda: not any(e("TAMIS.HAS", "timed", *(f"i{i}" for i in range(500)))))  # nobody asks the primary
        assert not any(r("TAMIS.HAS", "timed", *(f"i{i}" for i in range(500))))
        r.close()
        e.close()


def test_a_digest_depends_on_all_contents(r):
    """Two keys with ten different items, in a table of 4096 bytes that is moved to another one step by step."""
    words = ("ERROR", 0.01, "CAPACITY", 840, "GROWTO", 6720, "KIND", "line", "SEED", 1)
    for key in "ab":
        assert r("TAMIS.RESERVE", key, *words) == "OK"
        r("TAMIS.ADD", key, *(f"{key}{i}" for i in range(10)), *(f"i{i}" for i in range(1550)))
    assert [row[row.index("bytes") + 1] for row in r("TAMIS.PLAN", *words[:-2])][0] == 4096
    steps = 0
    for i in range(1550, 1620):
        assert r("TAMIS.ADD", "a", f"i{i}") == r("TAMIS.ADD", "b", f"i{i}")
        assert len(set(r("DEBUG", "DIGEST-VALUE", "a", "b"))) == 2, i
        info = r("TAMIS.INFO", "a")
        steps += info[info.index("growing") + 1]
    assert steps > 10


def test_a_script_and_a_transaction(r):
    assert r("EVAL", "redis.call('BF.ADD', KEYS[1], 'a') return redis.call('CF.ADD', KEYS[2], 'b')", 2, "b", "c") == 1
    r("MULTI")
    r("BF.ADD", "b", "x")
    r("CF.ADD", "c", "x")
    assert r("EXEC") == [1, 1]
