# The first packet after a gap must not find a flow that has timed out, however large the table is. The results
# are those of an exact table.
python3 - <<'END'
import struct

def tcp(port, flags):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    return bytes(12) + b"\x08\0" + ip + struct.pack(">HHIIBBHHH", port, 80, 1, 0, 5 << 4, flags, 1000, 0, 0)

SYN, ACK = 2, 16
for minutes in 3, 10, 40, 50, 2000:
    with open(f"gap{minutes}", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for begin in 0, minutes:
            for port in range(1000, 1100):
                for i, flags in enumerate([SYN, ACK] if port % 2 else [SYN]):
                    packet = tcp(port, flags)
                    file.write(struct.pack("<IIII", 60 * begin, 1000 * i, len(packet), len(packet)) + packet)
END
for gap in gap*; do
    for table in '--exact' '--flows 1M' '--flows 20M'; do
        tamis-flows tcp --json $table $gap | tail -n 1 >"$gap$table"
        python3 - "$gap$table" <<'END'
import json, sys
found = json.load(open(sys.argv[1]))
print(found["flows"], found["states"]["syn"], found["aged"]["syn"], found["aged"]["established"])
END
    done | uniq -c | tr -s ' '
done
