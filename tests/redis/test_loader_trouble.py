"""tamis redis with servers that refuse, lie or stop, and with commands that run at the same time."""
import os

import pytest
from proxy import Proxy
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


def test_an_import_replaces_nothing(one, server, tmp_path):
    """The same file is imported twice at the same time, and keys are added when the first is done."""
    file, added, restored = tmp_path / "s.tamis", [f"n{n}" for n in range(1000)], []
    one.tool("load", "--shards", 4, "-n", "10k", "-e", "1e-9", "s", keys=KEYS)
    one.tool("export", "s", file)

    def answer(words, _):
        restored.extend(words[:1] if words[0] == b"TAMIS.RESTORE" else [])
        if words[0] == b"TAMIS.RESTORE" and len(restored) == 2:
            one.tool("import", "--shards", 4, "t", file)
            one.tool("load", "t", keys=added)
        return NotImplemented
    with Proxy(server.port, answer) as proxy:
        said = One(proxy).tool("import", "--shards", 4, "t", file, code=2).stderr
    assert "exists already, with other contents" in said
    assert one.tool("has", "t", keys=KEYS + added).stdout.splitlines() == KEYS + added


def test_a_shard_that_is_imported_twice_is_the_same(one, server, tmp_path):
    """The reply is lost, and the request is sent again."""
    one.tool("load", "--shards", 4, "-n", "10k", "-e", "1e-9", "s", keys=KEYS)
    one.tool("export", "s", tmp_path / "s.tamis")
    restored = []

    def answer(words, _):
        if words[0] == b"TAMIS.RESTORE":
            restored.append(server.wire()(*words))
            if len(restored) % 2 == 1:
                raise ConnectionError
            return restored[-1]
        return NotImplemented
    with Proxy(server.port, answer) as proxy:
        One(proxy).tool("import", "--shards", 4, "t", tmp_path / "s.tamis")
    assert len(restored) == 8
    assert one.tool("has", "t", keys=KEYS).stdout.splitlines() == KEYS


def test_an_import_is_not_mixed_with_a_key_of_somebody_else(one, r, tmp_path):
    one.tool("load", "--shards", 4, "-n", "10k", "s", keys=KEYS)
    one.tool("export", "s", tmp_path / "s.tamis")
    key = r("KEYS", "s:{*")[0]
    r("DEL", "s:tamis", *r("KEYS", "s:{*"))
    r("SET", key, "mine")
    assert "WRONGTYPE" in one.tool("import", "--shards", 4, "s", tmp_path / "s.tamis", code=2).stderr
    assert r("GET", key) == b"mine"


@pytest.mark.parametrize("shards", [1, 8])
@pytest.mark.parametrize("seed", [(), ("--seed", 3)])
def test_shards_of_another_set_are_refused(one, r, shards, seed):
    """Somebody deleted NAME:tamis only. With one shard, the new set quietly had the error rate of the old one."""
    one.tool("load", "--shards", shards, "-n", "10k", "-e", 0.5, *seed, "s", keys=KEYS)
    r("DEL", "s:tamis")
    new = ("load", "--shards", shards, "-n", "10k", "-e", "1e-9", *seed, "s")
    for _ in range(2):
        assert "is of another set" in one.tool(*new, keys=["a"], code=2).stderr
    assert "not complete" in one.tool("has", "s", keys=["a"], code=2).stderr
    r("DEL", "s:tamis", *r("KEYS", "s:{*"))
    one.tool(*new, keys=["a"])


def test_a_key_of_another_type_is_no_shard(one, r):
    one.tool("load", "--shards", 8, "-n", "10k", "s", keys=KEYS)
    key = r("KEYS", "s:{*")[0]
    r("DEL", "s:tamis", *r("KEYS", "s:{*"))
    r("SET", key, "mine")
    assert "WRONGTYPE" in one.tool("load", "--shards", 8, "-n", "10k", "s", keys=KEYS, code=2).stderr
    assert b" making " in r("GET", "s:tamis") and r("GET", key) == b"mine"


def test_info_tells_an_error_from_a_lost_shard(one, r):
    """A key of another type was called missing, as was every shard if the login may not ask for them."""
    one.tool("load", "--shards", 4, "-n", "10k", "s", keys=KEYS)
    key = r("KEYS", "s:{*")[0]
    r("DEL", key)
    assert "1 shard is not there" in one.tool("info", "s", code=1).stdout
    r("SET", key, "mine")
    assert "WRONGTYPE" in one.tool("info", "s", code=2).stderr


def test_a_journal_is_an_ordinary_file(one, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in tmp_path / "pipe", "/dev/null":
        said = one.tool("load", "--shards", 2, "-n", 1000, "--journal", path, "s", keys=KEYS, code=2).stderr
        assert "a journal must be an ordinary file" in said
