"""tamis redis with servers that refuse, lie or stop, and with commands that run at the same time."""
import pytest
from proxy import Proxy
from server import Error
from test_loader import One

KEYS = [f"k{n}" for n in range(1000)]


@pytest.fixture
def one(server):
    return One(server)


def test_a_login_that_may_not_wait_is_told(one, r, tmp_path):
    """It was tried again and again, without an end."""
    r("ACL", "SETUSER", "loader", "on", ">pw", "~*", "+@all", "-wait")
    (tmp_path / "password").write_text("pw\n")
    login = ("--user", "loader", "--password-file", tmp_path / "password", "--shards", 2, "-n", 100)
    said = one.tool("load", *login, "--wait", 1, "s", keys=["a", "b"], code=2).stderr
    assert "does not accept WAIT: NOPERM" in said and "--wait 0" in said
    one.tool("load", *login, "--wait", 0, "s", keys=["a", "b"])
    r("ACL", "DELUSER", "loader")


@pytest.mark.slow
def test_a_node_that_fails_at_every_wait_is_given_up(one, server):
    """It replies to the requests each time they are sent again: that is no progress."""
    def answer(words, _):
        if words[0] == b"WAIT":
            raise ConnectionError
        return NotImplemented
    with Proxy(server.port, answer) as proxy:
        said = One(proxy).tool("load", "--wait", 1, "--shards", 2, "-n", 100, "s", keys=["a"], code=2).stderr
    assert "in a minute" in said
