# Only the answers of a name server and of a QUIC server were captured: they are no scanners, and the clients are
# guessed by ports. A packet to a port below 1024, or between two such ports, is still an attempt of its sender.
python3 - <<'END'
import struct

def udp(source, port, target, target_port, payload):
    body = struct.pack(">HHHH", port, target_port, 8 + len(payload), 0) + payload
    ends = bytes(source), bytes(target)
    return bytes(12) + b"\x08\0" + struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, 17, 0, *ends) + body

def write(name, packets):
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, data in enumerate(packets):
            file.write(struct.pack("<IIII", 1700000000 + i // 20, i % 20 * 50000, len(data), len(data)) + data)

SERVER, TIME = (8, 8, 8, 8), (10, 0, 0, 200)
names = [udp(SERVER, 53, (10, 0, 0, i % 5), 20000 + i, b"x" * 30) for i in range(400)]
asked = udp((10, 0, 0, 1), 20001, SERVER, 53, b"x" * 20)  # of one flow, the other direction comes as well
write("dns", names + [asked] + [udp(TIME, 123, SERVER, 123, b"t"), udp((10, 0, 0, 9), 5000, SERVER, 53, b"q")])
initial = {1: b"\xc3\0\0\0\x01", 2: b"\xd3\x6b\x33\x43\xcf"}
quic = [udp(SERVER, 443, (10, 0, 0, i), 50000, initial[i].ljust(1200, b"\x55")) for i in (1, 2)]
quic.append(udp(SERVER, 443, (10, 0, 0, 1), 50000, b"\x41" + bytes(40)))
write("quic", quic)
END
for machine in udp:dns quic:quic; do
    tamis-flows "${machine%:*}" --json --seed 1 --log log.$machine "${machine#*:}" | tail -n 1 | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["states"], found["events"], found["scans"], found["retries"], found["half_open"])
print(found["top"]["targets"]["flows"][0])'
    grep -v '#' log.$machine | cut -f 7,8,9,13,14,15 | sort | uniq -c
done
