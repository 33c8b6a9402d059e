"""tamis redis on a single server: what the loader sends, and what it says."""
import binascii
import socket
import time

import pytest
from cluster import SLOTS, Cluster
from proxy import Proxy
from server import Error, Server


class One(Cluster):
    """A server without cluster mode, for the same tool."""

    def __init__(self, server):
        self.nodes = [server]


def slot_of(key):
    """CRC-16 of what is in the braces."""
    return binascii.crc_hqx(key.split(b"{")[1].split(b"}")[0], 0) % SLOTS


@pytest.fixture
def one(server):
    return One(server)


@pytest.mark.parametrize("first", ["AT", "at", "REQUEST", "ITEMS"])
def test_keys_may_be_called_as_options_are(one, first):
    keys = [first, "100", "0", "2", "e", "f", "g", "h"]
    said = one.tool("load", "--shards", 1, "-n", 1000, "-e", "1e-9", "b", keys=keys).stderr
    assert "8 keys added, 8 of them new" in said
    assert one.tool("has", "b", keys=keys).stdout.splitlines() == keys
    assert "8 of them removed" in one.tool("remove", "b", keys=keys).stderr
    assert one.tool("has", "b", keys=keys, code=1).stdout == ""


def test_a_short_reply_is_an_error(server):
    def answer(words, _):
        return [1] if words[0] == b"TAMIS.ADD" else NotImplemented
    with Proxy(server.port, answer) as proxy:
        said = One(proxy).tool("load", "--shards", 1, "-n", 100, "s", keys=["a", "b", "c"], code=2).stderr
    assert "a reply with only 1 answers" in said


def test_what_a_broken_connection_did_is_sent_again(one, server):
    """A node replies, and is restarted without what it did, while the map is asked for: its first WAIT said no, and the
    second one, on a new connection, says yes."""
    seen = []

    def answer(words, connection):
        seen.append((words[0], connection))
        if words[0] == b"CLUSTER":
            if connection == 0 and len([s for s in seen if s[0] == b"TAMIS.ADD"]) > 0:
                raise ConnectionError
            return [[0, SLOTS - 1, [b"127.0.0.1", proxy.port]]]
        if words[0] == b"WAIT":
            return 0 if connection == 0 and (b"TAMIS.ADD", 0) in seen else 1
        if words[0] == b"TAMIS.ADD" and connection == 0:
            adds = len([s for s in seen if s[0] == b"TAMIS.ADD"])
            return Error("TRYAGAIN later") if adds == 1 else [1] * (len(words) - 6)  # but it is not done
        return NotImplemented
    keys = [f"k{n}" for n in range(100)]
    with Proxy(server.port, answer) as proxy:
        One(proxy).tool("load", "--shards", 4, "-n", "10k", "-e", "1e-9", "s", keys=keys)
    assert [s for s in seen if s[0] == b"CLUSTER" and s[1] > 0]
    assert one.tool("has", "s", keys=keys).stdout.splitlines() == keys


def test_a_dead_host_costs_one_timeout(server):
    """Half of the slots are said to be at a host that does not answer; the next map is right."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        waiting = [socket.socket() for _ in range(4)]  # its queue is full: who comes now waits for ever
        for other in waiting:
            other.setblocking(False)
            other.connect_ex(deaf.getsockname())
        asked = []
        name = next(f"s{n}" for n in range(100) if binascii.crc_hqx(f"s{n}:tamis".encode(), 0) % SLOTS < SLOTS // 2)

        def answer(words, _):
            if words[0] == b"WAIT":
                return 1
            if words[0] != b"CLUSTER":
                return NotImplemented
            asked.append(1)
            second = deaf.getsockname()[1] if len(asked) == 1 else proxy.port
            return [[0, SLOTS // 2 - 1, [b"127.0.0.1", proxy.port]], [SLOTS // 2, SLOTS - 1, [b"127.0.0.1", second]]]
        with Proxy(server.port, answer) as proxy:
            begin = time.monotonic()
            One(proxy).tool("load", "--shards", 16, "-n", "10k", name, keys=["a", "b"])
            assert len(asked) >= 2
            assert time.monotonic() - begin < 9  # eight shards: it was 2 s for each
        for other in waiting:
            other.close()


def test_the_error_of_the_server_is_said():
    with Server() as locked:
        locked.wire()("CONFIG", "SET", "requirepass", "secret")
        assert "NOAUTH" in One(locked).tool("has", "s", keys=["a"], code=2).stderr
        wire = locked.wire()
        wire("AUTH", "secret")
        wire("CONFIG", "SET", "requirepass", "")
