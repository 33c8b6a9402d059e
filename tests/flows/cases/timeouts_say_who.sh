# Attempts that nobody answers are reported with both ends, a minute after the last try, as events and in the flow
# log. Answered ones, late answers and copies of packets are not.
. "$CLI_TESTS/helpers.sh"
python3 - <<'END'
import struct

def tcp(client, flags, is_back=False):
    ends, ports = [bytes([10, 0, 0, client]), bytes([192, 0, 2, 1])], [40000 + client, 80]
    if is_back:
        ends.reverse(), ports.reverse()
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, *ends)
    return bytes(12) + b"\x08\0" + ip + struct.pack(">HHIIBBHHH", *ports, 1, 0, 5 << 4, flags, 1000, 0, 0)

SYN, RST, ACK = 2, 4, 16
packets = []
for client in range(1, 21):
    packets.append((client, tcp(client, SYN)))
    packets += [(client + wait, tcp(client, SYN)) for wait in (1, 3, 7, 15, 31)]  # repeated
for client in range(21, 41):
    packets += [(client, tcp(client, SYN)), (client, tcp(client, SYN | ACK, True)), (client, tcp(client, ACK))]
for client in range(41, 61):
    packets += [(client, tcp(client, SYN)), (client + 50, tcp(client, SYN | ACK, True)), (client + 50, tcp(client, ACK))]
for client in range(61, 66):
    packets += [(client, tcp(client, SYN)), (client, tcp(client, RST | ACK, True))]
packets.append((500, tcp(99, SYN)))  # after a long silence
packets.append((1000, tcp(98, ACK)))
with open("made", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for time, packet in sorted(packets, key=lambda item: item[0]):
        file.write(struct.pack("<IIII", 1700000000 + time, 0, len(packet), len(packet)) + packet)
END
for table in '--flows 1M' '--flows 100' '--exact'; do
    tamis-flows tcp --json --seed 1 -e 1e-9 $table --log log made >lines
    python3 - <<'END'
import json
timeouts = [event for event in map(json.loads, open("lines")) if event["event"] == "timeout"]
clients = sorted(int(event["client"].split(".")[3]) for event in timeouts)
print(clients == [*range(1, 21), 99], {(event["server"], event["server_port"]) for event in timeouts})
print({round(event["time"] - 1700000060 - 31 - event["client_port"] + 40000) for event in timeouts if event["client_port"] < 40099})
END
    grep -c 'syn.timeout' log
    rm log
done
