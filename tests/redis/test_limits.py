"""Memory that ends, limits, arguments of the module."""
import contextlib
import subprocess

import pytest
from server import MODULE, PROGRAM, Error, Server, Wire, free_port, sanitizer_environment, until


def test_maxmemory_refuses_writes_and_keeps_what_is_there():
    with Server(maxmemory="3mb") as server:
        r = server.wire()
        r("BF.RESERVE", "k", "0.01", 100)
        replies = []
        for at in range(0, 10_000_000, 1000):
            reply = r("BF.MADD", "k", *(f"i{i}" for i in range(at, at + 1000)))
            if isinstance(reply, Error):
                break
            replies.append(at)
        assert reply.startswith("OOM ")
        for at in replies:
            assert all(r("BF.MEXISTS", "k", *(f"i{i}" for i in range(at, at + 1000))))
        assert r("CF.ADD", "c", "x").startswith("OOM ")
        assert r("CF.RESERVE", "c", 1 << 30).startswith("OOM ")
        assert r("BF.CARD", "k") > 0
        assert r("DEL", "k") == 1
        until(lambda: r("BF.ADD", "k", "x") == 1)  # a server may free it in the background
        r.close()


@pytest.mark.parametrize("most, words", [
    (9500, ("CF.ADD", "k", "x")), (5500, ("CF.RESERVE", "k", 4)), (5500, ("CF.RESERVE", "k", 1024, "EXPANSION", 0)),
    (6500, ("BF.ADD", "k", "x")), (3000, ("BF.RESERVE", "k", "0.01", 100, "NONSCALING")),
    (3000, ("TAMIS.RESERVE", "k", "ERROR", 0.01, "CAPACITY", 100)),
    (3000, ("TAMIS.RESERVE", "k", "ERROR", 0.01, "CAPACITY", 100, "TIMEOUT", 60)),
    (3000, ("TAMIS.STATE.RESERVE", "k", "ERROR", 0.01, "CAPACITY", 100, "VALUES", 8)),
    (1000000 * 14 / 8, ("CF.RESERVE", "k", 1000000, "EXPANSION", 0)),
])
def test_small_keys_take_little_memory(r, most, words):
    """docs/redis.md has the table; here is room for other allocators."""
    assert not isinstance(r(*words), Error)
    assert r("MEMORY", "USAGE", "k") <= most


@pytest.mark.slow
def test_the_limit_of_a_key_counts_for_all_ways_in():
    with Server() as big, Server(module_args=["max-key-bytes", 200000]) as server:
        r, b = server.wire(), big.wire()
        assert r("BF.RESERVE", "k", "0.01", 1000000) == Error("ERR Insufficient memory to create filter")
        assert r("CF.RESERVE", "k", 1000000, "EXPANSION", 0) == Error("ERR Insufficient memory to create filter")
        assert r("TAMIS.RESERVE", "k", "ERROR", 0.01, "CAPACITY", 1000000).startswith("ERR ")
        b("BF.RESERVE", "k", "0.01", 1000000)
        b("BF.ADD", "k", "x")
        b("TAMIS.RESERVE", "t", "ERROR", 0.01, "CAPACITY", 1000000)
        assert isinstance(r("RESTORE", "k", 0, b("DUMP", "k")), Error)
        assert r("TAMIS.RESTORE", "k", b("TAMIS.DUMP", "t")).startswith("ERR ")
        assert r("BF.LOADCHUNK", "k", *b("BF.SCANDUMP", "k", 0)) == Error("ERR received bad data")
        r("BF.RESERVE", "grows", "0.01", 100)
        replies = []
        while Error("ERR problem inserting into filter") not in replies:
            replies = r("BF.MADD", "grows", *(f"i{len(replies)}-{r('BF.CARD', 'grows')}-{i}" for i in range(1000)))
        assert r("MEMORY", "USAGE", "grows") < 210000
        assert r("EXISTS", "k") == 0
        r.close()
        b.close()


@pytest.mark.parametrize("args, text", [
    (["bf-error-rate"], "Invalid number of arguments passed"),
    (["bogus", "1"], "Unrecognized option bogus"),
    (["bf-error-rate", "2"], "Value for `bf-error-rate` must be in the range (0.000000, 1.000000)"),
    (["INITIAL_SIZE", "0"], "Value for `bf-initial-size` must be in the range [1, 1073741824]"),
    (["CF_MAX_EXPANSIONS", "x"], "Invalid value for `cf-max-expansions`"),
])
def test_bad_arguments_refuse_the_load(args, text, tmp_path):
    done = subprocess.run([PROGRAM, "--port", str(free_port()), "--save", "", "--dir", str(tmp_path),
                           "--loadmodule", MODULE, *args], capture_output=True, text=True, timeout=60, check=False,
                          env=sanitizer_environment())
    assert done.returncode != 0 and text in done.stdout


def test_arguments_are_defaults_of_new_keys():
    args = ["ERROR_RATE", "0.001", "INITIAL_SIZE", 500, "bf-expansion-factor", 4, "cf-bucket-size", 4,
            "cf-initial-size", 2048, "cf-max-iterations", 7, "cf-expansion-factor", 2, "headroom", 2]
    with Server(module_args=args) as server:
        r = server.wire()
        r("BF.ADD", "b", "x")
        r("CF.ADD", "c", "x")
        assert r("BF.INFO", "b")[1] == 500 and r("BF.INFO", "b")[9] == 4
        assert r("CF.INFO", "c")[11::2] == [4, 2, 7]
        info = r("TAMIS.INFO", "b")
        assert dict(zip(info[0::2], info[1::2]))["grow to"] >= 2000
        r.close()


def test_seeds_are_random_unless_they_are_fixed(r):
    def seeds(wire):
        for key in ("a", "b"):
            wire("BF.ADD", key, "x")
        return [dict(zip(info[0::2], info[1::2]))["seed"] for info in (wire("TAMIS.INFO", "a"), wire("TAMIS.INFO", "b"))]

    assert seeds(r) == ["00000000000000000000000000000014"] * 2  # 20: see server.py
    with Server(module_args=["fixed-seed", 0]) as own:
        wire = own.wire()
        one, two = seeds(wire)
        assert one != two
        wire.close()


class Config:
    """CONFIG of one server. Where it lets modules do without a prefix, names of BF and CF have none."""

    def __init__(self, wire):
        self.wire = wire
        self.prefix = "" if wire("CONFIG", "GET", "bf-error-rate") else "tamis."

    def name(self, setting):
        return (self.prefix if setting[:3] in ("bf-", "cf-") else "tamis.") + setting

    def get(self, setting):
        name, value = self.wire("CONFIG", "GET", self.name(setting))
        assert name == self.name(setting).encode()
        return value

    def set(self, setting, value):
        return self.wire("CONFIG", "SET", self.name(setting), value)


def test_config_get_and_set():
    with Server(module_args=["bf-initial-size", 300]) as own:
        r = own.wire()
        config = Config(r)
        settings = ("bf-error-rate", "bf-initial-size", "bf-expansion-factor", "cf-error-rate", "cf-initial-size",
                    "cf-bucket-size", "cf-max-iterations", "cf-expansion-factor", "cf-max-expansions", "cf-count-to",
                    "headroom", "max-key-bytes", "fixed-seed", "stage-seconds")
        assert all(config.get(name) for name in settings)
        assert config.get("bf-initial-size") == b"300"
        assert config.set("bf-initial-size", 700) == "OK"
        assert config.set("bf-error-rate", "0.002") == "OK"
        assert config.get("bf-error-rate") == b"0.002"
        r("BF.ADD", "k", "x")
        assert r("BF.INFO", "k", "CAPACITY") == [700]
        for name, value in (("bf-initial-size", 0), ("bf-error-rate", 1), ("bf-error-rate", "x"), ("headroom", 99),
                            ("cf-bucket-size", 255 * 3), ("cf-initial-size", 3)):
            assert isinstance(config.set(name, value), Error), name
        assert config.set("cf-initial-size", 8) == "OK"
        assert config.set("cf-bucket-size", 5).endswith("Value for `cf-bucket-size` must be in the range [1, 4]")
        assert config.set("cf-bucket-size", 4) == "OK"
        said = config.set("cf-initial-size", 7)
        assert said.endswith("Value for `cf-initial-size` must be in the range [8, 1073741824]")
        assert config.set("cf-bucket-size", 2) == "OK"
        said = config.set("bf-error-rate", 1)
        assert said.endswith("Value for `bf-error-rate` must be in the range (0.000000, 1.000000)")
        assert config.set("bf-error-rate", "x").endswith("Invalid value for `bf-error-rate`")
        assert config.get("cf-bucket-size") == b"2"
        r.close()


def answers(port):
    try:
        wire = Wire(port)
        reply = wire("PING")
        wire.close()
        return reply == "PONG"
    except OSError:
        return False


@contextlib.contextmanager
def server_with_file(path):
    port = free_port()
    process = subprocess.Popen([PROGRAM, str(path), "--port", str(port), "--dir", str(path.parent)],
                               stdout=subprocess.DEVNULL, env=sanitizer_environment())
    try:
        until(lambda: answers(port))
        yield Wire(port)
    finally:
        process.terminate()
        process.wait(timeout=60)


def test_config_in_the_file_of_the_server(tmp_path):
    """What CONFIG REWRITE writes is read again at the next start."""
    path = tmp_path / "redis.conf"
    path.write_text(f'loadmodule {MODULE}\nsave ""\n')
    with server_with_file(path) as r:
        assert Config(r).set("bf-initial-size", 700) == "OK" and Config(r).set("headroom", 3) == "OK"
        assert r("CONFIG", "REWRITE") == "OK"
    with server_with_file(path) as r:
        assert Config(r).get("bf-initial-size") == b"700" and Config(r).get("headroom") == b"3"


@pytest.mark.slow
def test_an_abandoned_load_goes_away():
    with Server(module_args=["stage-seconds", 1]) as server:
        r = server.wire()
        r("BF.RESERVE", "k", "0.01", 1000)
        header, piece = r("BF.SCANDUMP", "k", 0), r("BF.SCANDUMP", "k", 1)
        assert r("BF.LOADCHUNK", "n", *header) == "OK"
        r("DEBUG", "SLEEP", 2.2)
        assert r("BF.LOADCHUNK", "n", *piece) == Error("ERR not found")
        assert r("BF.LOADCHUNK", "n", *header) == "OK"
        r("FLUSHALL")
        assert r("BF.LOADCHUNK", "n", *piece) == Error("ERR not found")
        r.close()


def large_file(r):
    """A file of several MiB, which is decoded in a thread."""
    r("TAMIS.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 2000000)
    r("TAMIS.ADD", "k", "a", "b")
    return r("TAMIS.DUMP", "k")


def test_large_values_are_decoded_while_the_server_goes_on(server):
    r, other = server.wire(), server.wire()
    file = large_file(r)
    assert len(file) > 1 << 20
    r.socket.sendall(r.pack("TAMIS.RESTORE", "n", file) + r.pack("TAMIS.HAS", "n", "a", "z"))
    assert other("PING") == "PONG"
    assert r.read() == "OK" and r.read() == [1, 0]  # commands behind it wait
    assert r("TAMIS.RESTORE", "n", file).startswith("BUSYKEY")
    assert r("TAMIS.RESTORE", "n", file[:-1] + b"!", "REPLACE").startswith("ERR ")
    assert r("TAMIS.HAS", "n", "a", "z") == [1, 0]
    r("MULTI")  # a client that cannot wait gets it at once
    r("TAMIS.RESTORE", "m", file)
    r("TAMIS.HAS", "m", "a", "z")
    assert r("EXEC") == ["OK", [1, 0]]
    for _ in range(20):  # clients that go away
        gone = server.wire()
        gone.socket.sendall(gone.pack("TAMIS.RESTORE", "gone", file, "REPLACE"))
        gone.close()
    assert other("PING") == "PONG"
    r.close()
    other.close()


def test_a_key_that_is_made_while_a_load_is_decoded_stays(server):
    r, other = server.wire(), server.wire()
    r("BF.RESERVE", "k", "0.001", 2000000, "NONSCALING")
    pieces, position = [], 0
    while True:
        position, data = r("BF.SCANDUMP", "k", position)
        if position == 0:
            break
        pieces.append((position, data))
    for _ in range(10):
        for position, data in pieces[:-1]:
            assert r("BF.LOADCHUNK", "n", position, data) == "OK"
        r.socket.sendall(r.pack("BF.LOADCHUNK", "n", *pieces[-1]))
        other("BF.ADD", "n", "mine")
        reply = r.read()
        assert reply in ("OK", "ERR received bad data")
        assert other("BF.EXISTS", "n", "mine") == 1
        other("DEL", "n")
    r.close()
    other.close()


def test_defragmentation(r):
    if isinstance(r("CONFIG", "SET", "activedefrag", "yes"), Error):
        return  # this server's allocator cannot
    for i in range(2000):
        r("BF.ADD", f"k{i}", "x")
    for i in range(0, 2000, 2):
        r("DEL", f"k{i}")
    r("CONFIG", "SET", "active-defrag-ignore-bytes", 1)
    r("CONFIG", "SET", "active-defrag-threshold-lower", 0)
    r("DEBUG", "SLEEP", 0)
    assert all(r("BF.EXISTS", f"k{i}", "x") for i in range(1, 2000, 2))
    r("CONFIG", "SET", "activedefrag", "no")
