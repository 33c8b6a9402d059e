# Who begins a connection, without sequence numbers: a SYN within a connection begins another one if a SYN-ACK answers
# it, and does not if the old connection goes on. Downloads of which only the ACKs were captured are no ACK scan.
cat >make.py <<'END'
import struct

def tcp(client, server, ports, flags, is_back=False):
    ends, ports = [bytes([10, 0, 0, client]), bytes([192, 0, 2, server])], [*ports]
    if is_back:
        ends.reverse(), ports.reverse()
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, *ends)
    return bytes(12) + b"\x08\0" + ip + struct.pack(">HHIIBBHHH", *ports, 1, 0, 5 << 4, flags, 1000, 0, 0)

def write(name, packets):
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, data in enumerate(packets):
            file.write(struct.pack("<IIII", 1700000000 + i // 20, i % 20 * 50000, len(data), len(data)) + data)

SYN, RST, ACK, FIN = 2, 4, 16, 1
def connection(client, *packets):
    return [tcp(client, 1, (40000, 80), flags, is_back) for flags, is_back in packets]

BEGIN = (SYN, False), (SYN | ACK, True), (ACK, False)
END = (FIN | ACK, False), (FIN | ACK, True), (ACK, False)
write("again", connection(1, *BEGIN, *BEGIN, *END)                            # both ends have forgotten the first one
      + connection(2, *BEGIN, (SYN, False), (ACK, True), (ACK, False), *END)  # forged: it goes on
      + connection(3, *BEGIN, (SYN, False), (SYN, False), (ACK, True), (RST, False), *BEGIN, *END)  # only the client has
      + connection(4, *BEGIN, (SYN | ACK, True), (ACK, False), *END))         # the SYN-ACK came twice
# 300 downloads of one client from 200 servers, one port after the other: two ACKs or more of each
write("downloads", [tcp(1, 1 + i % 200, (20000 + i, 443), ACK) for i in range(300) for _ in range(2 + i % 5)])
write("scan", [tcp(1, 1, (20000 + i, 1 + i), ACK) for i in range(300)])
END
python3 make.py
tamis-flows tcp --json --seed 1 -e 1e-9 --log log again | tail -n 1 | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["flows"], found["events"]["established"], found["events"]["reset"], found["events"]["closed"], found["anomalies"]["syn within a connection"])'
cut -f5,9,10 log | tr '\t' ' '
for name in downloads scan; do
    tamis-flows tcp --json --seed 1 -e 1e-9 $name | tail -n 1 | python3 -c '
import json, sys
found = json.load(sys.stdin)
print([scan["attempts"] for scan in found["scans"]], found["retries"], found["states"]["established"])'
done
