"""Hostile payloads: the server replies with an error, or accepts a valid value, and does not crash."""
import random

import pytest
from server import Error, Server

EXTREMES = [0, 1, 2, 3, 47, 48, 49, 255, 1 << 31, 1 << 32, (1 << 40) + 1, 1 << 63, (1 << 64) - 1]
HEADER, ROW = 256, 32
FIELDS = list(range(8, 248, 8)) + [HEADER + 8 * i for i in range(4)]


def crc64_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc64_table()


def crc64(data):
    """The server's checksum of a DUMP (Jones, reflected)."""
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def seal(payload):
    """A payload whose checksum is right again."""
    body = payload[:-8]
    return body + crc64(body).to_bytes(8, "little")


def fnv(data):
    total = 0xcbf29ce484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return total


def resum(value):
    """An encoded value whose header has the right checksum."""
    rows = int.from_bytes(value[128:136], "little")
    front = HEADER + ROW * min(rows, 48)
    blank = value[:248] + bytes(8) + value[256:front]
    return value[:248] + fnv(blank).to_bytes(8, "little") + value[256:]


def put(value, at, number):
    return value[:at] + (number & (1 << 64) - 1).to_bytes(8, "little") + value[at + 8:]


def chunk(stamp, offset, total, data):
    front = b"tamischk" + b"".join(one.to_bytes(8, "little") for one in (stamp, offset, total))
    return front + fnv(front).to_bytes(8, "little") + data


def test_the_checksum_is_the_servers(r):
    r("SET", "s", "x")
    payload = r("DUMP", "s")
    assert seal(payload) == payload


def pieces_of(r, command, key):
    out, position = [], 0
    while True:
        position, data = r(command, key, position)
        if position == 0:
            return out
        out.append((position, data))


def use(r, key):
    """Whatever was accepted must work."""
    for words in (("BF.ADD", key, "x"), ("BF.EXISTS", key, "x"), ("CF.ADD", key, "x"), ("CF.COUNT", key, "x"),
                  ("CF.DEL", key, "x"), ("TAMIS.ADD", key, "x"), ("TAMIS.HAS", key, "x"), ("TAMIS.INFO", key),
                  ("TAMIS.STATE.PUT", key, "x", 1), ("TAMIS.STATE.GET", key, "x"), ("BF.INFO", key),
                  ("CF.INFO", key), ("BF.DEBUG", key), ("MEMORY", "USAGE", key), ("BF.SCANDUMP", key, 0)):
        r(*words)


def make(r):
    r("BF.RESERVE", "bf", "0.1", 5)
    r("BF.MADD", "bf", *(f"i{i}" for i in range(200)))  # two parts
    r("CF.RESERVE", "cf", 8, "EXPANSION", 0)
    r("CF.INSERT", "cf", "ITEMS", "a", "b", "c")
    r("TAMIS.RESERVE", "set", "ERROR", 0.1, "CAPACITY", 10)
    r("TAMIS.ADD", "set", "a")
    r("TAMIS.RESERVE", "timed", "ERROR", 0.1, "CAPACITY", 10, "TIMEOUT", 100)
    r("TAMIS.STATE.RESERVE", "states", "ERROR", 0.1, "CAPACITY", 10, "VALUES", 4)


KEYS = ("bf", "cf", "set", "timed", "states")


def mutate_bytes(draw, data):
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 8, 64))):
        at = draw.randrange(len(data))
        data[at] = draw.choice((0, 255, data[at] ^ 1 << draw.randrange(8), draw.randrange(256)))
    if draw.random() < 0.3:
        cut = draw.randrange(len(data))
        data = data[:cut] if draw.random() < 0.5 else data[:cut] + data[cut + draw.randrange(1, 100):]
    return bytes(data)


def mutate_value(draw, values):
    """A field with an extreme number, parts that belong to another value, a file that is too long."""
    value = draw.choice(values)
    for _ in range(draw.choice((1, 1, 2))):
        value = put(value, draw.choice(FIELDS), draw.choice(EXTREMES) if draw.random() < 0.7 else draw.getrandbits(64))
    if draw.random() < 0.3:
        other = draw.choice(values)
        rows = int.from_bytes(other[128:136], "little")
        value = value[:HEADER] + other[HEADER:]
        value = put(value, 128, rows)
    if draw.random() < 0.8:
        value = put(value, 16, len(value))
    return resum(value)


@pytest.mark.slow
def test_5000_payloads_and_no_restart():
    draw = random.Random(2020)
    with Server(rdbcompression="no") as server:
        r = server.wire()
        make(r)
        payloads = {key: r("DUMP", key) for key in KEYS}
        files = [r("TAMIS.DUMP", key) for key in ("cf", "set", "states")]
        dumps = {"bf": pieces_of(r, "BF.SCANDUMP", "bf"), "cf": pieces_of(r, "CF.SCANDUMP", "cf")}
        values = [b"".join(data[40:] for _, data in dumps[key][1:]) for key in dumps]
        process = r("INFO", "server").split(b"process_id:")[1].split(b"\r")[0]
        refused = accepted = 0
        for n in range(5000):
            way = n % 4
            if way == 0:
                payload = seal(mutate_bytes(draw, payloads[draw.choice(KEYS)][:-8]) + bytes(8))
                reply = r("RESTORE", "n", 0, payload)
            elif way == 1:
                reply = r("TAMIS.RESTORE", "n", mutate_bytes(draw, draw.choice(files)))
            elif way == 2:
                value = mutate_value(draw, values)
                family = draw.choice(("BF", "CF", "TAMIS"))
                stamp = draw.getrandbits(64)
                r(family + ".LOADCHUNK", "n", 1, chunk(stamp, 0, len(value), b""))
                reply = r(family + ".LOADCHUNK", "n", 1 + len(value), chunk(stamp, 0, len(value), value))
            else:
                reply = load_out_of_order(draw, r, dumps)
            refused += isinstance(reply, Error)
            if r("EXISTS", "n"):
                accepted += 1
                use(r, "n")
                r("DEL", "n")
            assert r("PING") == "PONG"
        assert r("INFO", "server").split(b"process_id:")[1].split(b"\r")[0] == process
        assert refused > 3000, (refused, accepted)
        for key in KEYS:  # and what was there is as it was
            assert r("EXISTS", key) == 1
        r.close()


def load_out_of_order(draw, r, dumps):
    """Pieces that come in any order, twice, cut, with other positions or onto a live key."""
    family, pieces = draw.choice((("BF", dumps["bf"]), ("CF", dumps["cf"])))
    reply = None
    for _ in range(draw.randrange(1, 6)):
        position, data = draw.choice(pieces)
        if draw.random() < 0.3:
            position = draw.choice((-1, 0, 1, 2, 40, 1 << 40, (1 << 63) - 1, position + 1))
        if draw.random() < 0.3:
            data = data[:draw.randrange(len(data))]
        if draw.random() < 0.3:
            data = chunk(draw.getrandbits(64), draw.choice(EXTREMES), draw.choice(EXTREMES), data[40:])
        reply = r(family + ".LOADCHUNK", draw.choice(("n", "n", "bf", "set")), position, data)
    return reply


def with_requests(payload, at, extra):
    """A payload of DUMP whose value has other requests of the same length, and the right checksums. The header with
    its row, and the requests, are two strings: an opcode and a length of two bytes are between them."""
    front = put(payload[at:at + HEADER + ROW], 248, 0)
    total, more = fnv(front), fnv(extra)
    total ^= (more << 1 | more >> 63) & (1 << 64) - 1
    begin = at + HEADER + ROW + 3
    return seal(payload[:at] + put(front, 248, total) + payload[at + HEADER + ROW:begin] + extra +
                payload[begin + len(extra):])


def test_damaged_requests_are_refused(r):
    """The log of requests is checked field by field; whatever is accepted works."""
    draw = random.Random(20)
    r("CONFIG", "SET", "rdbcompression", "no")
    r("TAMIS.RESERVE", "k", "ERROR", 0.1, "CAPACITY", 10)
    r("TAMIS.ADD", "k", "REQUEST", "one", 7, "ITEMS", *(f"i{n}" for n in range(9)))
    r("TAMIS.REMOVE", "k", "REQUEST", "two", 1, "ITEMS", "i1", "zz")
    payload = r("DUMP", "k")
    at = payload.index(b"tamis-v1")
    size = int.from_bytes(payload[at + 144:at + 152], "little")
    begin = at + HEADER + ROW + 3
    extra = payload[begin:begin + size]
    assert with_requests(payload, at, extra) == payload and size == 8 + 2 * (72 + 8)
    refused = 0
    for _ in range(600):
        damaged = put(extra, draw.randrange(0, size - 7, 4), draw.choice(EXTREMES)) if draw.random() < 0.5 \
            else (mutate_bytes(draw, extra) + bytes(size))[:size]
        reply = r("RESTORE", "n", 0, with_requests(payload, at, damaged))
        refused += isinstance(reply, Error)
        if reply == "OK":
            for words in (("TAMIS.ADD", "n", "REQUEST", "one", 7, "ITEMS", "x"),
                          ("TAMIS.ADD", "n", "REQUEST", "one", 1 << 62, "ITEMS", "x"),
                          ("TAMIS.REMOVE", "n", "REQUEST", "two", 1, "ITEMS", "i1", "zz"), ("TAMIS.INFO", "n"), ("DUMP", "n"),
                          ("DEBUG", "DIGEST-VALUE", "n")):
                r(*words)
            r("DEL", "n")
    assert 100 < refused < 600
    assert r("PING") == "PONG"


def test_payloads_of_other_types_are_refused(r):
    """A header of one family with the files of another, each with right checksums."""
    make(r)
    bf = b"".join(data[40:] for _, data in pieces_of(r, "BF.SCANDUMP", "bf")[1:])
    cf = b"".join(data[40:] for _, data in pieces_of(r, "CF.SCANDUMP", "cf")[1:])
    states = r("TAMIS.DUMP", "states")
    as_cf = resum(put(bf, 8, 2))  # sets that cannot remove
    with_states = resum(put(put(cf[:HEADER + ROW], HEADER, len(states)), 16, HEADER + ROW + len(states)) + states)
    r("TAMIS.RESERVE", "seed2", "ERROR", 0.1, "CAPACITY", 10, "KIND", "rank", "GROWTO", 100, "SEED", 77)
    other = r("TAMIS.DUMP", "seed2")
    length = int.from_bytes(bf[HEADER:HEADER + 8], "little")
    mixed = bf[:HEADER + 2 * ROW + length] + other  # a second part with another seed
    mixed = resum(put(put(mixed, HEADER + ROW, len(other)), 16, len(mixed)))
    for value in (as_cf, with_states, mixed):
        r("TAMIS.LOADCHUNK", "n", 1, chunk(7, 0, len(value), b""))
        assert r("TAMIS.LOADCHUNK", "n", 1 + len(value), chunk(7, 0, len(value), value)) == \
            Error("ERR received bad data")
    good = resum(bf)
    r("TAMIS.LOADCHUNK", "n", 1, chunk(7, 0, len(good), b""))
    assert r("TAMIS.LOADCHUNK", "n", 1 + len(good), chunk(7, 0, len(good), good)) == "OK"
    assert r("EXISTS", "n") == 1


def test_an_allocation_bomb_is_refused(r):
    """A small payload that promises much gets no memory for it."""
    r("BF.ADD", "k", "x")
    assert r("BF.LOADCHUNK", "n", 1, chunk(1, 0, 1 << 62, b"")) == Error("ERR received bad data")
    before = r("MEMORY", "STATS")
    assert r("BF.LOADCHUNK", "n", 1, chunk(1, 0, 1 << 31, b"")) == "OK"
    after = r("MEMORY", "STATS")
    total = [dict(zip(one[0::2], one[1::2]))[b"total.allocated"] for one in (before, after)]
    assert total[1] - total[0] < 100000


RECIPE = ("1 family={family} part={part} error={error} asked=100 expansion=2 bucket_size=2 max_iterations=20 "
          "headroom={headroom} fpr=0.01 capacity={capacity} grow_to={grow_to} abilities={abilities} count_to=15 small=1 "
          "seed=1:2 values={values} timeout={timeout} tick_ms={tick} now_ms=5 kind={kind} geometry={geometry}")
GOOD = dict(family=1, part=0, error=0.02, headroom=4, capacity=100, grow_to=1600, abilities=0, values=0, timeout=0, tick=0,
            kind="rank", geometry="-")


def test_recipes(r):
    """TAMIS.MAKE is for replicas, but anybody can send it."""
    assert r("TAMIS.MAKE", "good", RECIPE.format(**GOOD)) == "OK"
    assert r("BF.ADD", "good", "x") == 1
    assert r("TAMIS.MAKE", "good", RECIPE.format(**GOOD)) == Error("ERR item exists")
    assert r("TAMIS.MAKE", "m", "nonsense") == Error("ERR not a recipe")
    for change in (dict(family=0), dict(family=5), dict(values=4), dict(timeout=9), dict(error="nan"), dict(error=2),
                   dict(headroom=41), dict(family=2), dict(family=3, values=2), dict(family=4), dict(family=3, part=1),
                   dict(family=3, values=2, timeout=5, tick=0), dict(part=1), dict(capacity=0), dict(capacity=1 << 63),
                   dict(capacity=1 << 40, grow_to=0), dict(kind="nokind"), dict(kind="bloom"), dict(geometry="x=1"),
                   dict(grow_to=1 << 60), dict(geometry="buckets=1,chains=2"), dict(family=4, values=1), dict(family=4, values=1 << 40)):
        reply = r("TAMIS.MAKE", "m", RECIPE.format(**{**GOOD, **change}))
        assert isinstance(reply, Error), change
        assert r("EXISTS", "m") == 0
    for change in (dict(family=2, abilities=3), dict(family=3, abilities=1), dict(family=4, values=4),
                   dict(family=3, values=2, timeout=50, tick=10)):
        assert r("TAMIS.MAKE", f"m{change}", RECIPE.format(**{**GOOD, **change})) == "OK"
        use(r, f"m{change}")
