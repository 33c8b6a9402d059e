# The flow log has one line for each flow, however it ends: by a packet, because its ports are used again, by a
# timeout, because the table is full, or not at all. A flow that lives on is not logged as timed out.
cat >make.py <<'END'
import struct

def packet(protocol, client, rest, is_back):
    ends, ports = [bytes([10, 0, client >> 8, client & 255]), bytes([192, 0, 2, 1])], [40000, 80]
    if is_back:
        ends.reverse(), ports.reverse()
    body = struct.pack(">HH", *ports) + rest
    return bytes(12) + b"\x08\0" + struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0, *ends) + body

def tcp(client, flags, is_back=False):
    return packet(6, client, struct.pack(">IIBBHHH", 1, 0, 5 << 4, flags, 1000, 0, 0), is_back)

def udp(client, size, is_back=False):
    return packet(17, client, struct.pack(">HH", 8 + size, 0) + bytes([client & 255]) * size, is_back)

def write(name, packets):
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for time, data in sorted(packets, key=lambda item: item[0]):
            file.write(struct.pack("<IIII", 1700000000 + int(time), round(time % 1 * 1e6), len(data), len(data)) + data)

SYN, RST, ACK, FIN = 2, 4, 16, 1
def opened(at, client):
    return [(at, tcp(client, SYN)), (at + .1, tcp(client, SYN | ACK, True)), (at + .2, tcp(client, ACK))]

write("tcp", opened(1, 1) + [(2, tcp(1, FIN | ACK)), (3, tcp(1, FIN | ACK, True))]         # closed
      + opened(1, 2) + [(5, tcp(2, FIN | ACK)), (9, tcp(2, SYN)), (10, tcp(2, RST, True))] # reused, then refused
      + opened(1, 3)                                                                     # silent from then on
      + [(1, tcp(4, SYN)), (3, tcp(4, SYN))]                                             # nobody answers
      + [(1.005, tcp(8, SYN))]                                                           # once
      + opened(1, 5) + [(at, tcp(5, ACK)) for at in range(600, 2500, 600)]               # lives for long
      + opened(1, 6) + [(3000, tcp(6, ACK))]                                             # picked up after a timeout
      + opened(2999, 7)                                                                  # goes on at the end
      + [(at, tcp(99, ACK)) for at in range(0, 3001, 10)])                               # so that time passes
# Every 10 s, for five minutes, without an answer; with one; in turns.
write("udp", [(at, udp(1, 100)) for at in range(0, 301, 10)] + [(5, udp(2, 7)), (6, udp(2, 8, True))]
      + [(at + 5, udp(3, 10, at % 20 == 10)) for at in range(0, 300, 10)]
      + [(at, udp(99, at % 100)) for at in range(0, 1000, 25)])
write("flood", [(i / 100, tcp(i, SYN)) for i in range(1, 1001)])
END
python3 make.py
log() { tamis-flows "$@" -q --seed 1 -e 1e-9 --log - --log-columns client,state,cause,duration,client_packets,server_packets; }
for table in '' --exact; do
    log tcp $table tcp | sort | tr '\t' ' '
done
log udp udp | sort | tr '\t' ' '
# A table that is too small: evicted flows have lines, too.
log tcp --flows 100 flood 2>/dev/null | grep -v '#' | cut -f3 | sort | uniq -c | awk '{ print $1, $2; sum += $1 } END { print sum }'
# Ends are remembered for 64 flows only: what the others are is counted.
tamis-flows tcp --json --seed 1 -e 1e-9 --log log --log-ends 64 flood | tail -n 1 | grep -o '"not_logged":[0-9]*'
grep -vc '#' log
# Each machine, on a capture of everything.
tamis-make-capture mixed made connections=500 seed=3 >/dev/null
for machine in tcp udp dns icmp tls; do
    rm log
    flows=$(tamis-flows $machine --json --seed 1 -e 1e-9 --log log made | tail -n 1 | grep -o '"flows":[0-9]*' | cut -d: -f2)
    lines=$(grep -vc '#' log || true)
    test "$flows" = "$lines" || echo "$machine: $flows flows, and $lines lines"
done
