"""tamis redis on a single server: what the loader sends, and what it says."""
import binascii
import os
import signal
import socket
import subprocess
import time

import pytest
from cluster import SLOTS, TOOL, Cluster
from proxy import Proxy
from server import Error, Server, until


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


@pytest.mark.parametrize("text", [
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
    "NOREPLICAS Not enough good replicas to write.", "TRYAGAIN clients were paused",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."])
def test_errors_that_go_away_are_waited_for(server, text):
    left = {b"TAMIS.RESERVE": 2, b"TAMIS.ADD": 2}

    def answer(words, _):
        left[words[0]] = left.get(words[0], 0) - 1
        return Error(text) if left[words[0]] >= 0 else NotImplemented
    with Proxy(server.port, answer) as proxy:
        said = One(proxy).tool("load", "--shards", 1, "-n", 100, "s", keys=["a", "b", "c"]).stderr
    assert "3 keys added, 3 of them new" in said


def test_an_action_is_checked_before_a_server_is_asked():
    for words, text in (((), "a subcommand is missing"), (("frob", "s"), "there is no 'tamis redis frob'")):
        done = subprocess.run([TOOL, "redis", *words, "--cluster", "127.0.0.1:1"], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 2 and text in done.stderr


def test_a_shard_that_was_lost_is_not_made_again(one, r):
    keys = [f"k{n}" for n in range(1000)]
    one.tool("load", "--shards", 8, "-n", "10k", "s", keys=keys)
    lost = r("KEYS", "s:{*")[:2]
    assert r("DEL", *lost) == 2
    said = one.tool("load", "s", keys=["a"], code=2).stderr
    assert "2 of its 8 shards are missing" in said and "delete s:tamis" in said
    assert "2 shards are not there" in one.tool("info", "s", code=1).stdout
    assert len(r("KEYS", "s:{*")) == 6


def test_a_set_that_was_not_finished_is_finished(one, r):
    """A loader that ended before all shards were there: nothing was added yet, so the next one goes on."""
    one.tool("load", "--shards", 8, "-n", "10k", "s", keys=[])
    r("SET", "s:tamis", r("GET", "s:tamis").replace(b" whole ", b" making "))
    r("DEL", *r("KEYS", "s:{*")[:3])
    assert "not complete" in one.tool("has", "s", keys=["a"], code=2).stderr
    one.tool("load", "s", keys=["a"])
    assert len(r("KEYS", "s:{*")) == 8 and b" whole " in r("GET", "s:tamis")


@pytest.mark.parametrize("words, name", [(("-n", "20k"), "-n"), (("-e", 0.01), "-e"), (("--count",), "--count"),
                                         (("--kind", "line"), "--kind"), (("--seed", 4), "--seed"),
                                         (("--grow-to", "1M"), "--grow-to")])
def test_other_options_for_a_set_that_exists_are_refused(one, words, name):
    first = ("--shards", 2, "-n", "10k", "-e", 0.001, "--seed", 3)
    one.tool("load", *first, "s", keys=["a"])
    one.tool("load", *first, "s", keys=["a"])
    one.tool("load", "s", keys=["a"])
    assert f"was made with another {name};" in one.tool("load", *words, "s", keys=["b"], code=2).stderr
    assert one.tool("has", "s", keys=["b"], code=1).stdout == ""


def test_an_import_may_be_run_again(one, r, server, tmp_path):
    keys = [f"k{n}" for n in range(5000)]
    one.tool("load", "--shards", 4, "-n", "10k", "-e", "1e-9", "s", keys=keys)
    one.tool("export", "s", tmp_path / "s.tamis")
    restored = []

    def answer(words, _):
        restored.extend(words[:1] if words[0] == b"TAMIS.RESTORE" else [])
        return Error("ERR no more") if len(restored) == 3 else NotImplemented
    with Proxy(server.port, answer) as proxy:
        One(proxy).tool("import", "--shards", 4, "t", tmp_path / "s.tamis", code=2)
    assert len(r("KEYS", "t:{*")) == 2
    assert "import" in one.tool("has", "t", keys=["k1"], code=2).stderr
    assert "an import was not finished" in one.tool("load", "t", keys=["k1"], code=2).stderr
    one.tool("import", "--shards", 4, "t", tmp_path / "s.tamis")
    assert one.tool("has", "t", keys=keys).stdout.splitlines() == keys
    assert "exists already" in one.tool("import", "--shards", 4, "t", tmp_path / "s.tamis", code=2).stderr


@pytest.mark.parametrize("action", ["load", "import"])
def test_a_reply_to_the_claim_may_be_lost(one, server, tmp_path, action):
    """SET NX is done, the connection breaks, and sent again it says that the key is there: by us."""
    one.tool("load", "--shards", 2, "-n", "10k", "s", keys=["a"])
    one.tool("export", "s", tmp_path / "s.tamis")
    claims = []

    def answer(words, _):
        if words[0] == b"SET" and words[-1] == b"NX" and not claims:
            claims.append(server.wire()(*words))
            raise ConnectionError
        return NotImplemented
    with Proxy(server.port, answer) as proxy:
        rest = (tmp_path / "s.tamis",) if action == "import" else ()
        One(proxy).tool(action, "--shards", 2, "t", *rest, keys=["a"] if action == "load" else None)
    assert len(claims) == 1
    assert one.tool("has", "t", keys=["a"]).stdout == "a\n"


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


def test_info_knows_how_full_large_shards_are(one):
    one.tool("load", "--shards", 1, "-n", "1M", "-e", "1e-6", "s", keys=[f"k{n}" for n in range(250000)])
    assert "the fullest shard has 25% of its share" in one.tool("info", "s").stdout


def test_sets_of_different_names_use_different_slots(one, r):
    slots = []
    for name in ("s", "t", "another"):
        one.tool("load", "--shards", 64, "-n", "10k", name, keys=["a"])
        here = sorted(slot_of(key) for key in r("KEYS", name + ":{*"))
        assert [slot * 64 // SLOTS for slot in here] == list(range(64))
        slots.append(set(here))
    assert all(len(a & b) < 8 for a in slots for b in slots if a is not b)


def test_the_error_of_the_server_is_said():
    with Server() as locked:
        locked.wire()("CONFIG", "SET", "requirepass", "secret")
        assert "NOAUTH" in One(locked).tool("has", "s", keys=["a"], code=2).stderr
        wire = locked.wire()
        wire("AUTH", "secret")
        wire("CONFIG", "SET", "requirepass", "")


def test_one_is_not_many(one):
    said = one.tool("load", "--shards", 1, "-n", 100, "s", keys=["a"]).stderr
    assert "1 key added, 1 of them new; 1 shard on 1 node" in said


def test_a_user_and_a_password(tmp_path):
    """From a file or the environment; a wrong one is said, and not tried again and again."""
    with Server() as locked:
        wire = locked.wire()
        wire("ACL", "SETUSER", "loader", "on", ">pass word", "~*", "+@all")
        wire("CONFIG", "SET", "requirepass", "secret")
        one = One(locked)
        (tmp_path / "password").write_text("pass word\nwhatever\n")
        login = ("--user", "loader", "--password-file", tmp_path / "password")
        one.tool("load", *login, "--shards", 2, "-n", 100, "s", keys=["a"])
        assert one.tool("has", *login, "s", keys=["a", "b"]).stdout == "a\n"
        (tmp_path / "password").write_text("wrong\n")
        assert "WRONGPASS" in one.tool("has", *login, "s", keys=["a"], code=2).stderr
        assert "needs a password" in one.tool("has", "--user", "loader", "s", keys=["a"], code=2).stderr
        os.environ["TAMIS_REDIS_PASSWORD"] = "secret"  # of the default user
        try:
            assert one.tool("has", "s", keys=["a"]).stdout == "a\n"
        finally:
            del os.environ["TAMIS_REDIS_PASSWORD"]
        wire("CONFIG", "SET", "requirepass", "")
        wire.close()


@pytest.mark.parametrize("windows", [1, 2, 16])
def test_windows_on_their_way_at_one_time(one, server, windows):
    """Each is a client of its own, with numbers that go up; answers come in the order of the input."""
    seen = []

    def answer(words, _):
        if words[0] == b"TAMIS.ADD":
            seen.append((words[3], int(words[4])))
        return NotImplemented
    keys = [f"k{n}" for n in range(20000)]
    with Proxy(server.port, answer) as proxy:
        said = One(proxy).tool("load", "--windows", windows, "--shards", 2, "-n", "50k", "-e", "1e-9", "s", keys=keys).stderr
    assert "20,000 keys added, 20,000 of them new" in said
    numbers = sorted({n for _, n in seen})
    assert len(numbers) >= 20 and numbers == list(range(1, len(numbers) + 1))  # at most 1024 keys each
    assert len({client for client, _ in seen}) == windows
    for client in {client for client, _ in seen}:
        own = [n for name, n in seen if name == client]
        assert own == sorted(own)
    asked = keys[::2] + ["no"] + keys[1::2]
    assert one.tool("has", "--windows", windows, "s", keys=asked).stdout.splitlines() == keys[::2] + keys[1::2]


def test_a_connection_that_breaks_with_several_windows_on_their_way(one, server):
    """Every tenth add is done and its reply is lost."""
    adds = []

    def answer(words, _):
        if words[0] != b"TAMIS.ADD":
            return NotImplemented
        adds.append(1)
        if len(adds) % 10 == 0:
            server.wire()(*words)
            raise ConnectionError
        return NotImplemented
    keys = [f"k{n}" for n in range(20000)]
    with Proxy(server.port, answer) as proxy:
        said = One(proxy).tool("load", "--windows", 4, "--shards", 2, "-n", "50k", "-e", "1e-9", "--count", "s",
                               keys=keys).stderr
    assert "20,000 keys added, 20,000 of them new" in said and "sent again" in said
    counts = one.tool("count", "s", keys=keys).stdout.splitlines()
    assert counts == [f"{key}\t1" for key in keys]


class Journal:
    """A load that is killed again and again."""

    def __init__(self, one, tmp_path):
        self.one, self.path, self.input = one, tmp_path / "journal", tmp_path / "keys"
        self.keys = [f"k{n}" for n in range(100000)]
        self.input.write_text("".join(f"{key}\n" for key in self.keys))
        one.tool("load", "--shards", 4, "-n", "200k", "-e", "1e-9", "--count", "s", keys=[])

    def words(self, address):
        return [TOOL, "redis", "load", "--cluster", address, "--journal", self.path, "s", self.input]

    def lines(self, word):
        return [line for line in self.path.read_text().splitlines() if line.startswith(word)]


def test_a_load_that_was_killed_goes_on(one, server, tmp_path):
    """After so many adds the loader is killed: some were done and not confirmed. In the end each key is there once."""
    load = Journal(one, tmp_path)
    victim = None

    def answer(words, _):
        if words[0] != b"TAMIS.ADD":
            return NotImplemented
        adds.append(1)
        if len(adds) == limit:
            server.wire()(*words)  # done, and nobody hears of it
            os.kill(victim.pid, signal.SIGKILL)
            raise ConnectionError
        return NotImplemented
    for limit in (1, 30, 31, 60, 1000000):
        adds = []
        with Proxy(server.port, answer) as proxy:
            victim = subprocess.Popen(load.words(f"127.0.0.1:{proxy.port}"), stderr=subprocess.PIPE, text=True)
            said = victim.communicate(timeout=60)[1]
    assert victim.returncode == 0 and "100,000 keys added, 100,000 of them new" in said
    counts = one.tool("count", "s", keys=load.keys).stdout.splitlines()
    assert counts == [f"{key}\t1" for key in load.keys]
    assert len(load.lines("window")) == len(load.lines("done")) and load.lines("end")
    assert 0 < len(adds) < 4 * len(load.lines("window"))  # what was confirmed was not sent again
    again = subprocess.run(load.words(one.address()), capture_output=True, text=True, check=False)
    assert again.returncode == 2 and "all keys of this journal are confirmed" in again.stderr


def test_a_journal_is_checked(one, tmp_path):
    load = Journal(one, tmp_path)

    def run(*words, code=2):
        result = subprocess.run(words, capture_output=True, text=True, check=False)
        assert result.returncode == code, result.stderr
        return result.stderr
    run(*load.words(one.address()), code=0)
    text = load.path.read_text()
    cut = "".join(text.splitlines(keepends=True)[:-4])
    load.path.write_text(cut + "done 12")  # without the end of the line: it is cut off
    run(*load.words(one.address()), code=0)
    assert [line.split()[0] for line in load.path.read_text().splitlines()] == \
        [line.split()[0] for line in text.splitlines()]
    load.path.write_text(cut)
    load.input.write_text("".join(f"{key}\n" for key in reversed(load.keys)))
    assert "the input is not the one of this journal" in run(*load.words(one.address()))
    load.input.write_text("k0\nk1\n")
    assert "the input is not the one of this journal" in run(*load.words(one.address()))
    load.input.write_text("")
    assert "it ends too early" in run(*load.words(one.address()))
    one.tool("load", "--shards", 4, "-n", "200k", "t", keys=[])
    words = load.words(one.address())
    words[words.index("s")] = "t"
    assert "the journal of another set" in run(*words)
    # Other files stay as they are, also those without the end of a line.
    for other in b"what is this\n", b"what is this", b"\0", b"tamis journal 1 \0", b"x" * 5000:
        load.path.write_bytes(other)
        assert "is not a journal" in run(*load.words(one.address()))
        assert load.path.read_bytes() == other
    for rubbish in "rubbish\n", "window " + "1" * 600, "done \0 and more\nwindow":
        load.path.write_text(cut + rubbish)
        assert "is damaged" in run(*load.words(one.address()))
        assert load.path.read_text() == cut + rubbish


def test_import_of_a_set_with_any_number_of_buckets(one, tmp_path):
    """A set that grows is made larger, exactly; one of a fixed size says what to do."""
    keys, file = [f"k{n}" for n in range(3000)], tmp_path / "s.tamis"

    def build(*words):
        result = subprocess.run([TOOL, "build", "-f", file, "-e", "1e-6", "--seed", "1", *words], check=True, text=True,
                                input="".join(f"{key}\n" for key in keys), capture_output=True)
        return result.stderr
    build("-n", "4000", "--geometry", "buckets=150", "--kind", "line")
    said = one.tool("import", "--shards", 64, "s", file, code=2).stderr
    assert "150 buckets are not a multiple of 64 shards" in said
    assert "--shards 2, or less" in said and "--geometry buckets=192" in said
    one.tool("import", "--shards", 2, "s", file)
    assert one.tool("has", "s", keys=keys + ["no"]).stdout.splitlines() == keys
    build("-n", "4000", "--geometry", "buckets=192", "--kind", "line")
    one.tool("import", "--shards", 64, "t", file)
    assert one.tool("has", "t", keys=keys + ["no"]).stdout.splitlines() == keys
    build("-n", "2000", "--grow-to", "500000", "--kind", "line")  # 85 buckets
    said = one.tool("import", "--shards", 16, "u", file).stderr
    assert "grows to" in said and "not a multiple of 16" in said
    assert one.tool("has", "u", keys=keys + ["no"]).stdout.splitlines() == keys
    one.tool("export", "u", tmp_path / "again.tamis")
    asked = "".join(f"{key}\n" for key in keys + ["no"])
    again = subprocess.run([TOOL, "has", tmp_path / "again.tamis"], input=asked, capture_output=True, text=True, check=True)
    assert again.stdout.splitlines() == keys
    assert "cannot grow so far" in one.tool("import", "--shards", 4096, "v", file, code=2).stderr


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Two CAs, and certificates that the first has signed: for a name, for an address, and for another name."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    openssl(*new, "-subj", "/CN=a CA", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(*new, "-subj", "/CN=another CA", "-keyout", "other.key", "-out", "other.pem")
    for name, more in (("node", ("-addext", "subjectAltName=IP:127.0.0.1")), ("elsewhere", ()),
                       ("localhost", ("-addext", "subjectAltName=DNS:localhost"))):
        openssl(*new, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-CA", "ca.pem",
                "-CAkey", "ca.key", *more)
    return folder


def test_tls(certificates):
    files = {"tls_cert_file": certificates / "node.pem", "tls_key_file": certificates / "node.key",
             "tls_ca_cert_file": certificates / "ca.pem"}

    def tls(name):
        return ("--tls", "--cacert", certificates / name)
    ours = ("--cert", certificates / "node.pem", "--key", certificates / "node.key")

    class Secure(One):
        def address(self):
            return f"127.0.0.1:{self.nodes[0].wire()('CONFIG', 'GET', 'tls-port')[1].decode()}"
    with Server(**files) as server:
        wire = server.wire()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        assert wire("CONFIG", "SET", "tls-port", port) == "OK"
        one = Secure(server)
        keys = [f"k{n}" for n in range(50000)]
        one.tool("load", *tls("ca.pem"), *ours, "--shards", 16, "-n", "100k", "-e", "1e-9", "s", keys=keys)
        assert one.tool("has", *tls("ca.pem"), *ours, "s", keys=keys).stdout.splitlines() == keys
        assert "is not trusted" in one.tool("has", *tls("other.pem"), *ours, "s", keys=keys, code=2).stderr
        assert "no Redis server answers" in One(server).tool("has", *tls("ca.pem"), "s", keys=keys, code=2).stderr
        one.tool("has", *tls("ca.pem"), "s", keys=["k1"], code=2)  # the server wants to know who we are
        wire("CONFIG", "SET", "tls-auth-clients", "no")
        assert one.tool("has", *tls("ca.pem"), "s", keys=["k1"]).stdout == "k1\n"
        assert "are for --tls" in one.tool("has", *ours, "s", keys=["k1"], code=2).stderr
        wire.close()


def test_names_in_certificates(certificates):
    """The certificate must be for the host that was asked for; --tls-name says another one."""
    class Secure(One):
        host = "127.0.0.1"

        def address(self):
            return f"{self.host}:{self.nodes[0].wire()('CONFIG', 'GET', 'tls-port')[1].decode()}"

    def answers(name, host, *words, code=0):
        files = {"tls_cert_file": certificates / f"{name}.pem", "tls_key_file": certificates / f"{name}.key",
                 "tls_ca_cert_file": certificates / "ca.pem", "tls_auth_clients": "no"}
        with Server(**files) as server:
            wire, one = server.wire(), Secure(server)
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            assert wire("CONFIG", "SET", "tls-port", port) == "OK"
            one.host = host
            done = one.tool("load", "--tls", "--cacert", certificates / "ca.pem", *words, "-n", 1000, "s", keys=["a"],
                            code=code)
            wire.close()
            return done.stderr
    answers("node", "127.0.0.1")
    answers("localhost", "localhost")
    answers("elsewhere", "127.0.0.1", "--tls-name", "elsewhere")
    answers("elsewhere", "127.0.0.1", "--tls-name", "*")
    assert "is for another host" in answers("elsewhere", "127.0.0.1", code=2)
    assert "is for another host" in answers("elsewhere", "localhost", code=2)
    assert "is not for elsewhere" in answers("node", "127.0.0.1", "--tls-name", "elsewhere", code=2)
