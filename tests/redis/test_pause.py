"""Clients are paused, as for a failover: the server aborts if a module sends something to replicas then."""
import time

import pytest
from server import Error, Server
from test_merge import fill, send


@pytest.fixture
def paused():
    """A server that would send: it has an append-only file."""
    with Server(appendonly="yes") as server:
        yield server
        assert server.is_alive()


@pytest.mark.parametrize("mode", ["ALL", "WRITE"])
def test_time_stands_still_in_a_pause(paused, mode):
    r = paused.wire()
    r("TAMIS.RESERVE", "timed", "ERROR", 0.01, "CAPACITY", 10000, "TIMEOUT", 1)
    r("TAMIS.ADD", "timed", "a", "b")
    r("CLIENT", "PAUSE", 1500, mode)
    if mode == "WRITE":
        end = time.monotonic() + 1.2
        while time.monotonic() < end:
            assert r("TAMIS.HAS", "timed", "a") in ([0], [1])
            time.sleep(0.05)
    else:
        time.sleep(1.2)
    time.sleep(2.5)
    assert r("TAMIS.HAS", "timed", "a") == [0]  # it goes on afterwards
    r.close()


def test_what_was_prepared_is_refused_in_a_pause(paused):
    r, other = paused.wire(), paused.wire()
    for _ in range(20):  # on a busy machine the merge may be done before the pause begins
        other("FLUSHALL")
        fill(r)
        send(r, other, "TAMIS.MERGE", "into", "from")
        other("CLIENT", "PAUSE", 3000, "WRITE")
        reply = r.read()
        if reply != "OK":
            break
        other("CLIENT", "UNPAUSE")
    assert isinstance(reply, Error) and str(reply).startswith("TRYAGAIN"), reply
    other("CLIENT", "UNPAUSE")
    assert other("TAMIS.HAS", "into", "b") == [0]
    assert r("TAMIS.MERGE", "into", "from") == "OK"
    assert other("TAMIS.HAS", "into", "b") == [1]
    r.close()
    other.close()
