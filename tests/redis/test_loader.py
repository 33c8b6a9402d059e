"""tamis redis on a single server: what the loader sends, and what it says."""
import pytest
from cluster import Cluster


class One(Cluster):
    """A server without cluster mode, for the same tool."""

    def __init__(self, server):
        self.nodes = [server]


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
