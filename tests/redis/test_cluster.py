"""tamis redis: one set over a cluster, while nodes die and slots move."""
import subprocess
import threading
import time

import pytest
from cluster import SLOTS, TOOL, Cluster
from server import Error, Server, until

RARE = ("-e", "1e-9", "--count", "--seed", 20)  # no two keys of these tests are taken for each other


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as made:
        yield made


@pytest.fixture
def fresh():
    """For tests that kill nodes."""
    with Cluster() as made:
        yield made


def names(cluster, name, shards):
    """The keys of the shards, by their number."""
    found = {}
    for one in cluster.masters():
        wire = one.wire()
        for key in wire("KEYS", f"{name}:{{*"):
            found[int(key.decode().rsplit(":", 1)[1])] = key.decode()
        wire.close()
    assert sorted(found) == list(range(shards))
    return found


def counts(cluster, name, keys):
    lines = cluster.tool("count", name, keys=keys).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == list(keys)
    return [line.split("\t")[1] for line in lines]


def total(cluster, name):
    words = cluster.tool("info", name).stdout.split()
    return int(words[words.index("keys") + 1].replace(",", ""))


def test_load_has_count_remove_info(cluster):
    keys = [f"key{n}" for n in range(30000)]
    said = cluster.tool("load", "--shards", 64, "-n", "100k", *RARE, "one", keys=keys).stderr
    assert "30,000 keys added, 30,000 of them new; 64 shards on 3 nodes" in said
    asked = [f"key{n}" for n in range(29000, 31000)]
    assert cluster.tool("has", "one", keys=asked).stdout.splitlines() == asked[:1000]
    assert cluster.tool("has", "-v", "one", keys=asked).stdout.splitlines() == asked[1000:]
    assert cluster.tool("has", "one", keys=["nobody"], code=1).stdout == ""
    assert "500 of them new" in cluster.tool("load", "one", keys=[f"key{n}" for n in range(29500, 30500)]).stderr
    assert counts(cluster, "one", ["key29499", "key29500", "key30400", "none"]) == ["1", "2", "1", "0"]
    assert "2,000 keys handled, 1,500 of them removed" in cluster.tool("remove", "one", keys=asked, code=1).stderr
    assert total(cluster, "one") == 31000 - 1500
    assert "64 on 3 nodes" in cluster.tool("info", "one").stdout


def test_shards_are_spread_evenly(cluster):
    cluster.tool("load", "--shards", 256, "-n", "10k", "even", keys=["a"])
    wire = cluster.nodes[0].wire()
    slots = sorted(wire("CLUSTER", "KEYSLOT", key) for key in names(cluster, "even", 256).values())
    wire.close()
    assert [slot * 256 // SLOTS for slot in slots] == list(range(256))  # one in each 256th of all slots
    assert all(85 <= sum(begin * SLOTS // 3 <= slot < (begin + 1) * SLOTS // 3 for slot in slots) <= 86
               for begin in range(3))


@pytest.mark.parametrize("shards", [1, 2, 16])
def test_import_and_export_are_exact(cluster, tmp_path, shards):
    name, first, again = f"file{shards}", tmp_path / "first.tamis", tmp_path / "again.tamis"
    keys = [f"{shards}:{n}" for n in range(20000)]
    cluster.tool("load", "--shards", shards, "-n", "10k", "--grow-to", "160k", "-e", "1e-6", name, keys=keys)
    cluster.tool("export", name, first)
    cluster.tool("import", "--shards", max(shards // 2, 1), name + "b", first)  # in other pieces, if there are two
    assert cluster.tool("has", name + "b", keys=keys).stdout.splitlines() == keys
    cluster.tool("export", name + "b", again)
    assert first.read_bytes() == again.read_bytes()
    assert "exists already" in cluster.tool("import", name + "b", first, code=2).stderr


def test_a_shard_is_a_file_that_says_which_part_it_is(cluster, tmp_path):
    cluster.tool("load", "--shards", 4, "-n", "10k", "--seed", 20, "parts", keys=[f"k{n}" for n in range(1000)])
    key = names(cluster, "parts", 4)[3]
    wire = cluster.owner(int(cluster.nodes[0].wire()("CLUSTER", "KEYSLOT", key))).wire()
    (tmp_path / "shard.tamis").write_bytes(wire("TAMIS.DUMP", key))
    wire.close()
    said = subprocess.run([TOOL, "info", tmp_path / "shard.tamis"], capture_output=True, text=True, check=True).stdout
    assert "part        3 of a set in 4 parts, 0 to 3" in said


def test_what_cannot_be_is_said(cluster, tmp_path):
    assert "there is no set nobody" in cluster.tool("has", "nobody", keys=["a"], code=2).stderr
    assert "cannot be the name" in cluster.tool("load", "a{b}", keys=["a"], code=2).stderr
    assert "power of two" in cluster.tool("load", "--shards", 3, "x", keys=["a"], code=2).stderr
    assert "there is no 'tamis redis bogus'" in cluster.tool("bogus", "x", code=2).stderr
    cluster.tool("load", "--shards", 4, "-n", "1000", "four", keys=["a"])
    assert "has 4 shards, not 8" in cluster.tool("load", "--shards", 8, "four", keys=["a"], code=2).stderr


def test_a_full_shard_is_said(cluster):
    keys = [f"k{n}" for n in range(20000)]
    assert "the set is full" in cluster.tool("load", "--shards", 2, "-n", "100", "full", keys=keys, code=2).stderr


def test_a_single_server_is_enough():
    with Server() as server:
        class One(Cluster):
            def __init__(self):
                self.nodes = [server]
        one = One()
        one.tool("load", "--shards", 8, "-n", "10k", *RARE, "s", keys=[f"k{n}" for n in range(5000)])
        assert len(one.tool("has", "s", keys=[f"k{n}" for n in range(4000, 6000)]).stdout.split()) == 1000
        assert "8 on 1 node" in one.tool("info", "s").stdout


def feed(tool, keys):
    tool.stdin.write("".join(f"{key}\n" for key in keys))
    tool.stdin.flush()


def finish(tool):
    said = tool.communicate(timeout=110)[1]
    assert tool.returncode == 0, said
    return said


def move_slot(cluster, slot, source, target, key, between):
    """As a cluster is resharded, with something in the middle: the key is moved, the slot not yet."""
    from_wire, to_wire = source.wire(), target.wire()
    assert to_wire("CLUSTER", "SETSLOT", slot, "IMPORTING", source.identity()) == "OK"
    assert from_wire("CLUSTER", "SETSLOT", slot, "MIGRATING", target.identity()) == "OK"
    assert from_wire("MIGRATE", "127.0.0.1", target.port, key, 0, 10000) == "OK"
    assert str(from_wire("TAMIS.HAS", key, "a")).startswith("ASK ")
    between()
    for wire in (to_wire, from_wire):
        assert wire("CLUSTER", "SETSLOT", slot, "NODE", target.identity()) == "OK"
    assert str(from_wire("TAMIS.HAS", key, "a")).startswith("MOVED ")
    from_wire.close()
    to_wire.close()


def test_a_slot_moves_while_a_key_is_prepared(cluster):
    """What a thread has prepared is not written where the slot was: that key would be lost."""
    wire = cluster.nodes[0].wire()
    slot = wire("CLUSTER", "KEYSLOT", "prepared")
    source = cluster.owner(slot)
    target = next(one for one in cluster.masters() if one is not source)
    names = source.identity(), target.identity()
    client, other, there = source.wire(), source.wire(), target.wire()
    refused = 0
    for i in range(50):
        words = ("TAMIS.STATE.RESERVE", "prepared", "ERROR", 0.01, "CAPACITY", 100000 + i, "VALUES", 5)
        client.socket.sendall(client.pack(*words))
        moved = other("CLUSTER", "SETSLOT", slot, "NODE", names[1])
        reply = client.read()
        if moved == "OK" and reply != "OK":  # the slot was moved before the command was done, or before it began
            refused += str(reply).startswith("TRYAGAIN the slot")
            assert str(reply).split()[0] in ("TRYAGAIN", "MOVED")
            assert other("CLUSTER", "COUNTKEYSINSLOT", slot) == 0
        assert other("CLUSTER", "SETSLOT", slot, "NODE", names[0]) == "OK"
        if reply == "OK":
            assert client("DEL", "prepared") == 1
        elif refused:
            assert client(*words) == "OK"  # as it was told to
            break
    assert refused == 1
    assert there("CLUSTER", "KEYSLOT", "prepared") == slot and client("DEL", "prepared") == 1
    until(cluster.is_well, 60)
    for one in (wire, client, other, there):
        one.close()


def test_a_slot_moves_while_a_load_runs(cluster):
    """ASK while it moves, MOVED when it has moved; requests that were done are known on the other side."""
    keys = [f"key{n}" for n in range(60000)]
    cluster.tool("load", "--shards", 8, "-n", "100k", *RARE, "moving", keys=[])
    key = names(cluster, "moving", 8)[5]
    wire = cluster.nodes[0].wire()
    slot = wire("CLUSTER", "KEYSLOT", key)
    wire.close()
    source = cluster.owner(slot)
    target = next(one for one in cluster.masters() if one is not source)
    tool = cluster.start_tool("load", "moving")
    feed(tool, keys[:20000])
    until(lambda: total(cluster, "moving") == 20000)

    def in_the_middle():
        feed(tool, keys[20000:40000])
        until(lambda: total(cluster, "moving") == 40000)
    move_slot(cluster, slot, source, target, key, in_the_middle)
    feed(tool, keys[40000:])
    finish(tool)
    assert counts(cluster, "moving", keys) == ["1"] * 60000
    assert total(cluster, "moving") == 60000
    assert cluster.owner(slot) is target


def test_a_master_dies_while_a_load_runs(fresh):
    """Nothing that was acknowledged is lost, and nothing is counted twice. The successor has no replica until the
    dead node comes back: the load waits for that."""
    keys = [f"key{n}" for n in range(200000)]
    tool = fresh.start_tool("load", "--shards", 16, "-n", "200k", *RARE, "seen")
    feeder = threading.Thread(target=lambda: (feed(tool, keys[:150000]), None))
    feeder.start()
    until(lambda: "seen" in fresh.tool("info", "seen", code=None).stdout)
    until(lambda: total(fresh, "seen") > 40000)
    fresh.nodes[0].stop(kill=True)
    until(lambda: len(fresh.masters()) == 3, 60)
    fresh.nodes[0].start()
    feeder.join()
    feed(tool, keys[150000:])
    said = finish(tool)
    assert "sent again" in said
    assert "200,000 keys added, 200,000 of them new" in said
    assert counts(fresh, "seen", keys) == ["1"] * len(keys)
    assert total(fresh, "seen") == len(keys)
    assert len(fresh.masters()) == 3


@pytest.mark.slow
def test_masters_die_one_after_the_other(fresh):
    """Removals, too; and a node that comes back as a replica is promoted in its turn."""
    keys = [f"key{n}" for n in range(300000)]
    fresh.tool("load", "--shards", 32, "-n", "400k", *RARE, "seen", keys=keys)
    tool = fresh.start_tool("remove", "seen")
    stop = threading.Event()

    def slowly():
        for at in range(0, 200000, 2000):
            feed(tool, keys[at:at + 2000])
            time.sleep(0.15)
        stop.set()
    feeder = threading.Thread(target=slowly)
    feeder.start()
    for i in range(2):
        time.sleep(1)
        fresh.nodes[i].stop(kill=True)
        until(lambda: len(fresh.masters()) == 3, 60)
        fresh.nodes[i].start()
        until(fresh.is_well, 60)
    feeder.join()
    assert "200,000 of them removed" in finish(tool)
    assert counts(fresh, "seen", keys) == ["0"] * 200000 + ["1"] * 100000


@pytest.mark.slow
def test_without_a_replica_nothing_is_acknowledged(fresh):
    for one in fresh.nodes[3:]:
        one.stop(kill=True)
    result = fresh.tool("load", "--shards", 4, "-n", "1000", "seen", keys=["a"], code=2)
    assert "did not confirm" in result.stderr
    fresh.tool("load", "--wait", 0, "--shards", 4, "-n", "1000", "seen", keys=["a"])


def test_requests_survive_a_failover(fresh):
    """A client that repeats its last request to a promoted replica gets the reply of the first time."""
    wire = fresh.nodes[1].wire()
    key = next(f"k{{{n}}}" for n in range(1000) if SLOTS // 3 <= wire("CLUSTER", "KEYSLOT", f"k{{{n}}}") < SLOTS // 3 * 2)
    wire("TAMIS.RESERVE", key, "ERROR", 0.001, "CAPACITY", 1000, "COUNTING")
    assert wire("TAMIS.ADD", key, "REQUEST", "me", 1, "ITEMS", "a", "b", "a") == [1, 1, 0]
    assert wire("WAIT", 1, 10000) == 1
    fresh.nodes[1].stop(kill=True)
    until(lambda: len(fresh.masters()) == 3 and fresh.is_well(), 60)
    replica = fresh.nodes[4].wire()
    assert replica("TAMIS.ADD", key, "REQUEST", "me", 1, "ITEMS", "a", "b", "a") == [1, 1, 0]
    assert replica("TAMIS.COUNT", key, "a") == [2]
    assert not isinstance(replica("TAMIS.ADD", key, "REQUEST", "me", 2, "ITEMS", "c"), Error)
