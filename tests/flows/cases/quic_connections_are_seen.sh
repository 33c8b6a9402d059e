# QUIC by its headers (RFC 9000, RFC 9369): versions 1 and 2, a server that speaks another version, one that does not
# answer, one whose handshake fails, and a connection that began before the capture.
python3 - <<'END'
import struct

def udp(client, payload, is_back=False):
    ends, ports = [bytes([10, 0, 0, client]), bytes([192, 0, 2, 1])], [50000, 443]
    if is_back:
        ends.reverse(), ports.reverse()
    body = struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload
    return bytes(12) + b"\x08\0" + struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, 17, 0, *ends) + body

def long(kind, version, size):
    """A long header: its type, the version, two connection ids, and as much as fills the datagram."""
    ids = bytes([8]) + b"target.." + bytes([8]) + b"source.."
    return (bytes([kind]) + struct.pack(">I", version) + ids).ljust(size, b"\x55")

V1, V2 = 1, 0x6b3343cf
SHORT = b"\x41" + bytes(40)
handshake = {V1: (0xc3, 0xe3), V2: (0xd3, 0xf3)}
packets = []
def add(client, *parts):
    packets.extend(udp(client, payload, is_back) for payload, is_back in parts)

for client, version in (1, V1), (2, V2):
    initial, middle = handshake[version]
    add(client, (long(initial, version, 1200), False), (long(initial, version, 1200), True), (long(middle, version, 800), True),
        (long(middle, version, 100), False), (SHORT, False), (SHORT, True), (SHORT, False))
add(3, (long(0xc0, V1, 1250), False), (long(0x80, 0, 40), True))  # version negotiation
add(4, (long(0xc0, V1, 1250), False), (long(0xc0, V1, 1250), False))  # no answer
add(5, (long(0xc0, V1, 1250), False), (long(0xc0, V1, 1200), True))  # and no more
add(6, (SHORT, True), (SHORT, False))  # began before
add(7, (long(0xc0, V1, 300), False))  # too short for a first packet
add(8, (b"\x00\x01hello", False))  # something else on this port
with open("made", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i, data in enumerate(packets):
        file.write(struct.pack("<IIII", 1700000000, 20000 * i, len(data), len(data)) + data)
END
tamis-flows quic --json --seed 1 --log log made | tail -n 1 | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["flows"], found["no_rule"], found["events"], found["states"])'
grep -v '#' log | cut -f 5,7,9,10,13,14,15 | sort | tr '\t' ' '
