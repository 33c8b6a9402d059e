# Floods of UDP answers that nobody asked for, and what looks like one: an answer of each question, a capture of one
# direction, a scan of ports. Clients of NFS have ports below 1024.
cat >make.py <<'END'
import struct

def udp(source, port, target, target_port, payload=b"x" * 30):
    body = struct.pack(">HHHH", port, target_port, 8 + len(payload), 0) + payload
    ends = bytes(source), bytes(target)
    return bytes(12) + b"\x08\0" + struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, 17, 0, *ends) + body

def tcp(source, port, target, target_port, flags):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, bytes(source), bytes(target))
    return bytes(12) + b"\x08\0" + ip + struct.pack(">HHIIBBHHH", port, target_port, 1, 0, 5 << 4, flags, 1000, 0, 0)

def write(name, packets):
    """500 packets in a second."""
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, data in enumerate(packets):
            file.write(struct.pack("<IIII", 1700000000 + i // 500, i % 500 * 2000, len(data), len(data)) + data)

HOST, NAMES = (10, 0, 0, 1), (9, 9, 9, 9)
def server(i):
    return 8, 0, i >> 8, i & 255

answers = [udp(server(i), 53, HOST, 2000 + i) for i in range(6000)]
asked = [udp(HOST, 2000 + i, server(i), 53) for i in range(6000)]
write("reflected", [packet for i in range(6000) for packet in (answers[i], udp(HOST, 1500, NAMES, 53))[:1 + (i % 9 == 0)]])
write("one-side", answers)
write("resolver", [packet for i in range(6000) for packet in (asked[i], answers[i])])
write("scan", [udp(NAMES, 40000, HOST, 1 + i) for i in range(6000)])
flood = [udp(server(i), 2000 + i, HOST, 53) for i in range(6000)]
write("questions", flood)  # perhaps all were answered
write("flood", flood[:5] + [udp(HOST, 1500, NAMES, 53)] + flood[5:])
write("nfs", [udp((10, 0, 1, i), 700 + i, HOST, 2049) for i in range(200)]
      + [udp(HOST, 2049, (10, 0, 1, i), 700 + i) for i in range(200)])
write("nfs-tcp", [tcp((10, 0, 1, i), 700 + i, HOST, 2049, 16) for i in range(200) for _ in range(2)])
END
python3 make.py
for name in reflected one-side resolver scan questions flood nfs nfs-tcp; do
    case $name in *-tcp) machine=tcp;; *) machine=udp;; esac
    tamis-flows $machine --json --seed 1 -e 1e-9 --log log $name | tail -n 1 | NAME=$name python3 -c '
import json, os, sys
found = json.load(sys.stdin)
print(os.environ["NAME"], [(flood["kind"], flood["target"], flood.get("target_port"), flood.get("source")) for flood in found["floods"]],
      [scan["source"] for scan in found["scans"]], found["top"]["targets"]["flows"][:1])'
    case $name in nfs*) cut -f5,7,8,9,15 log | tail -n 1;; esac
    rm log
done
