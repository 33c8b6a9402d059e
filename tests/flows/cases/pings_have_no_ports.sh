# Many pings of one dead host, each with another identifier, are no scan of its ports: ICMP has no ports. Pings of many
# hosts are a scan.
python3 - <<'END'
import struct

def ping(source, target, identifier):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, 1, 0, bytes(source), bytes(target))
    return bytes(12) + b"\x08\0" + ip + struct.pack(">BBHHH", 8, 0, 0, identifier, 1)

with open("pings", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i in range(300):
        for packet in ping([10, 0, 0, 1], [10, 1, 0, 1], 1000 + i), ping([10, 0, 0, 2], [10, 2, i // 250, i % 250], 2000 + i):
            file.write(struct.pack("<IIII", 1700000000 + i // 10, 0, len(packet), len(packet)) + packet)
END
tamis-flows icmp --seed 1 pings | sed -n '/likely scans/,/^$/p; /retries/,/^$/p; /top targets/,/^$/p'
tamis-flows icmp --seed 1 --interval 1h -q pings | grep -E 'likely|retries'
tamis-flows icmp --seed 1 --json pings >lines
grep -m 1 asked lines
grep anomaly lines
grep -m 1 -o 'timeout.*' lines
tamis-flows icmp --seed 1 --log - -q --log-columns client_port,server_port pings | sort | uniq -c
