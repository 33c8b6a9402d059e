"""TAMIS.*: sets and states with all that the library offers."""
import os
import subprocess
import time

import pytest
from server import Error, Server, Simple, until

TOOL = os.path.join(os.environ["TAMIS_BUILD"], "tamis")


def info(r, key, *words):
    reply = r("TAMIS.INFO", key, *words)
    return dict(zip(reply[0::2], reply[1::2]))


def test_add_has_remove_count(r):
    assert r("TAMIS.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 1000, "COUNTING") == Simple("OK")
    assert r("TAMIS.ADD", "k", "a", "b", "a") == [1, 1, 0]
    assert r("TAMIS.HAS", "k", "a", "z") == [1, 0]
    assert r("TAMIS.COUNT", "k", "a", "b", "z") == [2, 1, 0]
    assert r("TAMIS.REMOVE", "k", "a", "b", "z") == [1, 1, 0]
    assert r("TAMIS.COUNT", "k", "a", "b") == [1, 0]
    facts = info(r, "k")
    assert facts["keys"] == 1 and facts["refused removals"] == 1 and facts["asked error"] == b"0.001"
    assert float(facts["predicted error"]) <= 0.001 and float(facts["overflow probability"]) <= 1e-10
    assert r("TYPE", "k") == "tamis-set"


def test_saturated_items_say_so(r):
    r("TAMIS.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 100, "COUNTING")
    r("TAMIS.ADD", "k", *["x"] * 1000)
    assert r("TAMIS.COUNT", "k", "x") == [Simple("MANY")]
    assert r("TAMIS.REMOVE", "k", "x") == [-1]
    assert info(r, "k")["saturated"] == 1


@pytest.mark.parametrize("words, text", [
    (("ERROR", 0.1, "CAPACITY"), "ERR syntax error"),
    (("ERROR", 0.1, "CAPACITY", 10, "BOGUS", 1), "ERR syntax error"),
    (("ERROR", 0.1, "SMALL"), "ERR ERROR and CAPACITY are needed"),
    (("ERROR", 0.9, "CAPACITY", 10), "ERR ERROR must be 1e-12 to 0.5"),
    (("ERROR", "nan", "CAPACITY", 10), "ERR ERROR must be 1e-12 to 0.5"),
    (("ERROR", 0.1, "CAPACITY", 0), "ERR CAPACITY must be 1 to 2^40"),
    (("ERROR", 0.1, "CAPACITY", 10, "GROWTO", 5), "ERR GROWTO must not be less than CAPACITY"),
    (("ERROR", 0.1, "CAPACITY", 10, "KIND", "X!"), "ERR unknown KIND"),
    (("ERROR", 0.1, "CAPACITY", 10, "SEED", "zz"), "ERR SEED must be a number or 32 hexadecimal digits"),
    (("ERROR", 0.1, "CAPACITY", 10, "TIMEOUT", 0), "ERR TIMEOUT must be 0.1 to 1000000000 seconds"),
    (("ERROR", 0.1, "CAPACITY", 10, "TIMEOUT", 5, "COUNTING"), "ERR a set with TIMEOUT cannot count"),
    (("ERROR", 0.1, "CAPACITY", 10, "COUNTING", 0), "ERR COUNTING n: n must be 1 to 65535"),
    (("ERROR", 0.1, "CAPACITY", 10, "COUNTING", 15, 15), "ERR syntax error"),
    (("LIKE", "none"), "ERR the key after LIKE does not exist"),
    (("LIKE", "none", "SEED", 1), "ERR SEED or LIKE: the seed comes from the other key"),
])
def test_reserve_refuses(r, words, text):
    assert r("TAMIS.RESERVE", "k", *words) == Error(text)
    assert r("EXISTS", "k") == 0


def test_words_beside_like_must_agree(r):
    words = ("ERROR", 0.01, "CAPACITY", 1000, "GROWTO", 8000, "COUNTING", "KIND", "line", "PART", 1, 4)
    assert r("TAMIS.RESERVE", "k", *words, "SEED", 7) == "OK"
    assert r("TAMIS.RESERVE", "same", *words, "LIKE", "k") == "OK"
    assert r("TAMIS.RESERVE", "some", "LIKE", "k", "CAPACITY", 1000) == "OK"
    for pair in (("ERROR", 0.02), ("CAPACITY", 999), ("GROWTO", 9000), ("KIND", "rank"), ("TIMEOUT", 5),
                 ("PART", 2, 4), ("COUNTING", 9)):
        assert r("TAMIS.RESERVE", "x", "LIKE", "k", *pair) == Error(
            "ERR the key after LIKE was made with other words"), pair
    states = ("ERROR", 0.01, "CAPACITY", 1000, "VALUES", 4, "TIMEOUT", 60)
    assert r("TAMIS.STATE.RESERVE", "s", *states) == "OK"
    assert r("TAMIS.STATE.RESERVE", "s-same", *states, "LIKE", "s") == "OK"
    for pair in (("VALUES", 8), ("TIMEOUT", 61)):
        assert r("TAMIS.STATE.RESERVE", "x", "LIKE", "s", *pair) == Error(
            "ERR the key after LIKE was made with other words"), pair
    assert r("TAMIS.RESERVE", "plain", "ERROR", 0.01, "CAPACITY", 1000) == "OK"
    assert isinstance(r("TAMIS.RESERVE", "x", "LIKE", "plain", "COUNTING", "KIND", "bloom"), Error)
    assert r("EXISTS", "x") == 0
    assert r("TAMIS.ADD", "same", *(f"i{i}" for i in range(20)))[-1:] == [
        Error("ERR the item belongs to another part of the set")]


def test_a_size_beyond_the_limit_is_an_error_and_not_an_abort(r):
    reply = r("TAMIS.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 1 << 40)
    assert isinstance(reply, Error) and reply.startswith("ERR ")
    reply = r("BF.RESERVE", "b", "0.0000000001", 1 << 30, "NONSCALING")  # more than max-key-bytes
    assert reply == Error("ERR Insufficient memory to create filter")
    assert isinstance(r("TAMIS.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 10, "KIND", "nokind"), Error)
    assert r("PING") == "PONG"


def test_every_kind(r):
    for kind in ("line", "rank", "dlcbf", "bloom", "counting"):
        assert r("TAMIS.RESERVE", kind, "ERROR", 0.01, "CAPACITY", 100, "KIND", kind) == "OK", kind
        assert info(r, kind)["kind"] == kind
        assert r("TAMIS.ADD", kind, "a") == [1] and r("TAMIS.HAS", kind, "a", "b") == [1, 0]
    assert r("TAMIS.REMOVE", "bloom", "a") == Error("ERR a set of this kind cannot remove")
    assert r("TAMIS.COUNT", "bloom", "a") == Error("ERR this set cannot count: make it with COUNTING")


def test_growing_and_full(r):
    r("TAMIS.RESERVE", "k", "ERROR", 0.01, "CAPACITY", 100, "GROWTO", 4000)
    for at in range(0, 4000, 100):
        assert all(isinstance(one, int) for one in r("TAMIS.ADD", "k", *(f"i{i}" for i in range(at, at + 100))))
    facts = info(r, "k")
    assert facts["stage"] == facts["stages"] > 0
    assert all(r("TAMIS.HAS", "k", *(f"i{i}" for i in range(4000))))
    replies = r("TAMIS.ADD", "k", *(f"more{i}" for i in range(20000)))
    assert replies[-1] == Error("ERR the set is full") and len(replies) < 20000


def test_the_seed_fixes_the_contents(r):
    for key in "ab":
        r("TAMIS.RESERVE", key, "ERROR", 0.01, "CAPACITY", 1000, "SEED", "000102030405060708090a0b0c0d0e0f")
        r("TAMIS.ADD", key, *(f"i{i}" for i in range(500)))
    assert r("TAMIS.DUMP", "a") == r("TAMIS.DUMP", "b")
    assert info(r, "a")["seed"] == "000102030405060708090a0b0c0d0e0f"


def test_merge(r):
    r("TAMIS.RESERVE", "a", "ERROR", 0.001, "CAPACITY", 1000)
    assert r("TAMIS.RESERVE", "b", "LIKE", "a") == "OK"
    r("TAMIS.RESERVE", "other", "ERROR", 0.001, "CAPACITY", 1000, "SEED", 5)
    r("TAMIS.ADD", "a", "x", "y")
    r("TAMIS.ADD", "b", "y", "z")
    assert r("TAMIS.MERGE", "a", "b") == "OK"
    assert r("TAMIS.HAS", "a", "x", "y", "z", "w") == [1, 1, 1, 0]
    assert r("TAMIS.MERGE", "a", "other").startswith("ERR ")
    assert r("TAMIS.MERGE", "a", "a").startswith("ERR ")
    assert r("TAMIS.MERGE", "a", "none") == Error("ERR no such key")
    r("SET", "s", "x")
    assert r("TAMIS.MERGE", "a", "s").startswith("WRONGTYPE")


def test_a_dump_is_a_file_of_the_tool(r, tmp_path):
    r("TAMIS.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 100)
    r("TAMIS.ADD", "k", "sieve", "drum")
    file = tmp_path / "k.tamis"
    file.write_bytes(r("TAMIS.DUMP", "k"))
    words = subprocess.run([TOOL, "has", file], input=b"sieve\nkitchen\ndrum\n", capture_output=True, check=False)
    assert words.stdout == b"sieve\ndrum\n"
    subprocess.run([TOOL, "add", file], input=b"kitchen\n", capture_output=True, check=True)
    assert r("TAMIS.RESTORE", "k", file.read_bytes()).startswith("BUSYKEY")
    assert r("TAMIS.RESTORE", "k", file.read_bytes(), "REPLACE") == "OK"
    assert r("TAMIS.HAS", "k", "sieve", "drum", "kitchen", "x") == [1, 1, 1, 0]
    assert info(r, "k")["keys"] == 3
    assert r("TAMIS.RESTORE", "n", file.read_bytes()[:-1]).startswith("ERR ")
    assert r("TAMIS.RESTORE", "n", b"").startswith("ERR ")
    assert r("EXISTS", "n") == 0 and r("TAMIS.DUMP", "n") is None


def test_plan(r):
    rows = [dict(zip(row[0::2], row[1::2])) for row in r("TAMIS.PLAN", "ERROR", 0.01, "CAPACITY", 1000000)]
    assert [row["kind"] for row in rows if row.get("chosen")] == ["line"]
    rows = [dict(zip(row[0::2], row[1::2])) for row in
            r("TAMIS.PLAN", "ERROR", 0.01, "CAPACITY", 1000, "GROWTO", 16000, "SMALL")]
    assert len(rows) >= 3 and all(row["kind"] == "rank" for row in rows)
    assert r("TAMIS.PLAN", "ERROR", 0.01, "CAPACITY", 1000, "VALUES", 8)[0][0] == "kind"
    assert r("TAMIS.PLAN", "LIKE", "k", "SMALL", "SMALL") == Error("ERR PLAN needs no key")


@pytest.mark.parametrize("words", [
    ("CAPACITY", 1000), ("CAPACITY", 1000, "SMALL"), ("CAPACITY", 1000, "COUNTING"), ("CAPACITY", 1000, "TIMEOUT", 9),
    ("CAPACITY", 1000, "KIND", "bloom"), ("CAPACITY", 1000, "KIND", "counting"), ("CAPACITY", 4000, "PART", 1, 4),
    ("CAPACITY", 1000, "COUNTING", 15), ("CAPACITY", 1000, "COUNTING", 1000, "SMALL"),
    ("CAPACITY", 1000, "GROWTO", 9000), ("CAPACITY", 1000, "GROWTO", 9000, "COUNTING", "SMALL")])
def test_a_plan_is_what_reserve_makes(r, words):
    rows = [dict(zip(row[0::2], row[1::2])) for row in r("TAMIS.PLAN", "ERROR", 0.01, *words)]
    plan = next(row for row in rows if row.get("chosen"))
    assert r("TAMIS.RESERVE", "k", "ERROR", 0.01, *words) == "OK"
    made = info(r, "k")
    assert (plan["kind"], plan["bytes"], plan["error"]) == (made["kind"], made["body bytes"], made["predicted error"])


def test_a_plan_has_the_price_of_growth(r):
    """A CF key grows to 16 times its capacity, with half of its error left to later parts."""
    r("CF.RESERVE", "k", 1000)
    rows = r("TAMIS.PLAN", "ERROR", 0.005, "CAPACITY", 1000, "GROWTO", 16000, "COUNTING", 15, "SMALL")
    plan, made = dict(zip(rows[0][0::2], rows[0][1::2])), info(r, "k")
    assert (plan["kind"], plan["bytes"], plan["capacity"]) == (made["kind"], made["body bytes"], made["capacity"])


def test_counting_to_another_number(r):
    r("TAMIS.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 1000, "COUNTING", 15)
    assert info(r, "k")["counts to"] == 15
    assert r("TAMIS.ADD", "k", *["a"] * 16)[0] == 1
    assert r("TAMIS.COUNT", "k", "a") == [Simple("MANY")]
    assert r("TAMIS.RESERVE", "l", "LIKE", "k", "COUNTING", 15) == "OK"
    assert info(r, "l")["counts to"] == 15


def test_info_of_large_states_has_the_predicted_error(r):
    r("TAMIS.STATE.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 300000, "VALUES", 16)
    short, scanned = info(r, "k"), r("TAMIS.INFO", "k", "SCAN")
    assert short["body bytes"] > 256 << 10 and short["current error"] is None
    for name in ("predicted error", "overflow probability"):
        assert short[name] == scanned[scanned.index(name) + 1] is not None


def test_plan_needs_no_key_and_changes_nothing(r):
    """It is planned in a thread: also while writes are paused; at once in MULTI and in scripts."""
    words = ("TAMIS.PLAN", "ERROR", 0.01, "CAPACITY", 1000)
    wanted = r(*words)
    assert r("MULTI") == "OK" and r(*words) == "QUEUED" and r("EXEC") == [wanted]
    assert len(r("EVAL", "return redis.call('TAMIS.PLAN', 'ERROR', '0.01', 'CAPACITY', '1000')", 0)) == len(wanted)
    assert r("CLIENT", "PAUSE", 60000, "WRITE") == "OK"
    assert r(*words) == wanted
    assert r("CLIENT", "UNPAUSE") == "OK"
    with Server(**{"cluster-enabled": "yes", "cluster-require-full-coverage": "no"}) as alone:
        wire = alone.wire()
        slot = wire("CLUSTER", "KEYSLOT", "ERROR")  # the first word is no key: its slot may be elsewhere
        assert wire("CLUSTER", "ADDSLOTSRANGE", 0, slot - 1, slot + 1, 16383) == "OK"
        until(lambda: b"cluster_state:ok" in wire("CLUSTER", "INFO"))
        assert wire(*words) == wanted
        wire.close()



def test_bf_and_cf_keys_can_be_looked_at_but_not_changed(r):
    r("BF.ADD", "b", "x")
    r("CF.ADD", "c", "x")
    assert info(r, "b")["family"] == "BF" and info(r, "c")["family"] == "CF"
    assert r("TAMIS.HAS", "b", "x", "y") == [1, 0] and r("TAMIS.COUNT", "c", "x") == [1]
    assert r("TAMIS.ADD", "b", "y") == Error("ERR BF and CF keys are changed by BF.* and CF.*")
    assert r("TAMIS.REMOVE", "c", "x") == Error("ERR BF and CF keys are changed by BF.* and CF.*")


def test_wrong_types_and_missing_keys(r):
    r("SET", "s", "x")
    r("TAMIS.STATE.RESERVE", "t", "ERROR", 0.01, "CAPACITY", 10, "VALUES", 4)
    for command in ("TAMIS.ADD", "TAMIS.HAS", "TAMIS.REMOVE", "TAMIS.COUNT"):
        assert r(command, "s", "a").startswith("WRONGTYPE") and r(command, "t", "a").startswith("WRONGTYPE")
        assert r(command, "none", "a") == Error("ERR no such key: make it with TAMIS.RESERVE")
    for words in (("TAMIS.STATE.PUT", "s", "a", 1), ("TAMIS.STATE.GET", "s", "a"), ("TAMIS.STATE.TALLY", "s"),
                  ("TAMIS.STATE.MOVE", "s", 1, 2, "a"), ("TAMIS.STATE.TOUCH", "s", "a"),
                  ("TAMIS.STATE.DROP", "s", 1, "a"), ("TAMIS.INFO", "s"), ("TAMIS.DUMP", "s")):
        assert r(*words).startswith("WRONGTYPE"), words
    assert r("TAMIS.STATE.GET", "none", "a") == Error("ERR no such key: make it with TAMIS.STATE.RESERVE")
    assert r("TAMIS.INFO", "none") is None


def test_states(r):
    assert r("TAMIS.STATE.RESERVE", "t", "ERROR", 0.0001, "CAPACITY", 1000, "VALUES", 8) == "OK"
    assert r("TAMIS.STATE.PUT", "t", "a", 1, "b", 2) == [Simple("OK"), Simple("OK")]
    assert r("TAMIS.STATE.PUT", "t", "a", 5) == [Simple("CONFLICT")]
    assert r("TAMIS.STATE.GET", "t", "a", "b", "z") == [1, 2, None]
    assert r("TAMIS.STATE.MOVE", "t", 1, 3, "a", "b", "z") == [Simple("OK"), Simple("CONFLICT"), Simple("ABSENT")]
    assert r("TAMIS.STATE.MOVE", "t", "*", 4, "b") == [Simple("OK")]
    assert r("TAMIS.STATE.TOUCH", "t", "a", "z") == [Simple("OK"), Simple("ABSENT")]
    assert r("TAMIS.STATE.TALLY", "t") == [0, 0, 0, 1, 1, 0, 0, 0]
    assert r("TAMIS.STATE.DROP", "t", 1, "a") == [Simple("CONFLICT")]
    assert r("TAMIS.STATE.DROP", "t", "*", "a", "b") == [Simple("OK"), Simple("OK")]
    assert r("TAMIS.STATE.GET", "t", "a", "b") == [None, None]
    assert r("TAMIS.STATE.PUT", "t", "a", 9) == [Error("ERR there is no such value")]
    assert r("TAMIS.STATE.PUT", "t", "a", "x") == Error("ERR a value must be a number")
    assert r("TAMIS.STATE.RESERVE", "u", "ERROR", 0.01, "CAPACITY", 10) == Error("ERR VALUES is needed")
    assert r("TYPE", "t") == "tamis-sta"


def test_items_with_a_timeout_expire(r):
    assert r("TAMIS.RESERVE", "k", "ERROR", 0.001, "CAPACITY", 1000, "TIMEOUT", 0.5) == "OK"
    assert r("TAMIS.ADD", "k", "a", "b") == [1, 1]
    facts = info(r, "k")
    least, most = facts["stays at least milliseconds"], facts["gone after milliseconds"]
    assert 500 <= least <= most <= 1500
    assert r("TAMIS.REMOVE", "k", "a") == Error("ERR a set with TIMEOUT cannot remove: its items expire")
    end = time.monotonic() + 2 * most / 1000
    last = time.monotonic()
    while time.monotonic() < end:  # b is heard of, a is silent
        was_new = r("TAMIS.ADD", "k", "b") == [1]
        assert not was_new or time.monotonic() - last > least / 1000  # unless this program was stopped for so long
        last = time.monotonic()
        time.sleep(0.05)
    assert r("TAMIS.HAS", "k", "a") == [0]
    assert info(r, "k")["timed out"] >= 1


def test_states_with_a_timeout_age_when_nobody_asks(r):
    r("TAMIS.STATE.RESERVE", "t", "ERROR", 0.001, "CAPACITY", 1000, "VALUES", 4, "TIMEOUT", 0.3)
    r("TAMIS.STATE.PUT", "t", *(word for i in range(100) for word in (f"i{i}", 1)))
    before = r("DEBUG", "DIGEST-VALUE", "t")
    until(lambda: r("DEBUG", "DIGEST-VALUE", "t") != before)  # it does not touch the key's clock
    time.sleep(1)
    assert r("TAMIS.STATE.TALLY", "t") == [0, 0, 0, 0]


def test_keyspace_events(r, server):
    r("CONFIG", "SET", "notify-keyspace-events", "KEA")
    listener = server.wire()
    listener("PSUBSCRIBE", "__keyevent@0__:*")
    for words in (("BF.RESERVE", "b", "0.1", 10), ("BF.ADD", "b", "x"), ("CF.ADD", "c", "x"), ("CF.DEL", "c", "x"),
                  ("TAMIS.RESERVE", "t", "ERROR", 0.1, "CAPACITY", 10), ("TAMIS.RESERVE", "t", "LIKE", "t"),
                  ("TAMIS.ADD", "t", "x"), ("TAMIS.REMOVE", "t", "x")):  # the second RESERVE is refused
        r(*words)
    events = []
    while len(events) < 7:
        name = listener.read()[2].split(b":")[1].decode()
        if name != "new":
            events.append(name)
    assert events == ["bf.reserve", "bf.add", "cf.add", "cf.del", "tamis.reserve", "tamis.add", "tamis.remove"]
    listener.close()


def test_a_watched_key_that_changes_stops_a_transaction(r, server):
    r("BF.ADD", "k", "a")
    other = server.wire()
    r("WATCH", "k")
    other("BF.ADD", "k", "b")
    r("MULTI")
    r("BF.ADD", "k", "c")
    assert r("EXEC") is None
    other.close()


def test_command_docs_and_key_specs(r):
    names = [name for name in r("COMMAND", "LIST", "FILTERBY", "MODULE", "tamis")]
    assert len(names) == 45
    for name in names:
        docs = r("COMMAND", "DOCS", name)[1]
        facts = dict(zip(docs[0::2], docs[1::2]))
        assert facts[b"summary"] and facts[b"complexity"] and facts[b"since"] and facts[b"arguments"], name
    assert r("COMMAND", "GETKEYS", "TAMIS.RESERVE", "a", "LIKE", "b") == [b"a", b"b"]
    assert r("COMMAND", "GETKEYS", "TAMIS.MERGE", "a", "b") == [b"a", b"b"]
    assert r("COMMAND", "GETKEYSANDFLAGS", "TAMIS.MERGE", "a", "b")[1] == [b"b", ["RO", "access"]]
    assert r("COMMAND", "GETKEYS", "CF.INSERT", "a", "ITEMS", "b") == [b"a"]
    arguments = r("COMMAND", "DOCS", "bf.info")[1][-1]  # the words are no options: one of them is given, or none
    assert arguments[1][7][0] == [b"name", b"capacity", b"type", b"pure-token", b"token", b"CAPACITY"]
    arguments = r("COMMAND", "DOCS", "tamis.reserve")[1][-1]
    assert [b"name", b"like", b"type", b"key", b"key_spec_index", 1, b"token", b"LIKE", b"flags",
            ["optional"]] in arguments
    arities = {"bf.reserve": -4, "bf.add": 3, "bf.exists": 3, "bf.madd": -3, "bf.mexists": -3, "bf.insert": -4,
               "bf.info": -2, "bf.card": 2, "bf.scandump": 3, "bf.loadchunk": 4, "bf.debug": 2, "cf.reserve": -3,
               "cf.add": 3, "cf.addnx": 3, "cf.exists": 3, "cf.del": 3, "cf.count": 3, "cf.mexists": -3,
               "cf.insert": -4, "cf.insertnx": -4, "cf.info": 2, "cf.scandump": 3, "cf.loadchunk": 4, "cf.compact": 2,
               "cf.debug": 2}
    assert set(arities) == {name.decode() for name in names if not name.startswith(b"tamis.")}
    for name, arity in arities.items():
        row = r("COMMAND", "INFO", name)[0]
        assert row[1] == arity and row[3:6] == [1, 1, 1], name
        assert set(row[2]) - {"module"} == flags_of(name), name


def flags_of(name):
    """Of BF and CF commands; cf.compact is called readonly elsewhere, too."""
    if name.split(".")[1] in ("reserve", "add", "addnx", "madd", "insert", "insertnx", "loadchunk"):
        return {"write", "denyoom"}
    return {"write", "fast"} if name == "cf.del" else {"readonly", "fast"}


def test_acl_categories(server, r):
    """Rules of users hold for our commands, where the server lets modules say so."""
    if "no RedisModule_SetCommandACLCategories" in server.log():
        assert r("COMMAND", "INFO", "bf.add")[0][6] == []
        return
    for name in r("COMMAND", "LIST", "FILTERBY", "MODULE", "tamis"):
        flags, categories = r("COMMAND", "INFO", name)[0][2:7:4]
        assert ("@write" if "write" in flags else "@read") in categories, name
        assert ("@fast" if "fast" in flags else "@slow") in categories, name
        own = {b"b": "@bloom", b"c": "@cuckoo", b"t": "@tamis"}[name[:1]]
        assert own in categories or "no RedisModule_AddACLCategory" in server.log(), name
    r("ACL", "SETUSER", "reader", "on", "nopass", "~*", "-@all", "+@read")
    reader = server.wire()
    assert reader("AUTH", "reader", "any") == "OK"
    assert reader("BF.EXISTS", "k", "a") == 0
    assert reader("BF.ADD", "k", "a").startswith("NOPERM")
    reader.close()
    r("ACL", "DELUSER", "reader")


def test_unload_is_refused(r):
    r("BF.ADD", "k", "a")
    assert r("MODULE", "UNLOAD", "tamis").startswith("ERR ")
    assert r("BF.EXISTS", "k", "a") == 1
