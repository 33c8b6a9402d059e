# Times just below a minute, long addresses, rare packets and empty rows: rounded correctly, aligned, and
# without blanks at the end of a line.
python3 - <<'END'
import struct

def syn(i):
    source, target = bytes.fromhex("20010db8aaaabbbbccccddddeeeeffff"), bytes(14) + struct.pack(">H", i)
    tcp = struct.pack(">HHIIBBHHH", 1024 + i, 80, 1, 0, 5 << 4, 2, 1000, 0, 0)
    return bytes(12) + b"\x86\xdd" + b"\x60\0\0\0" + struct.pack(">HBB", len(tcp), 6, 64) + source + target + tcp

def capture(name, stamps):
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, (seconds, fraction) in enumerate(stamps):
            packet = syn(i)
            file.write(struct.pack("<IIII", seconds, fraction, len(packet), len(packet)) + packet)

capture("made", 150 * [(0, 0)] + 50 * [(179, 900000)])
capture("rare", [(0, 0), (50000, 0)])
END
tamis-flows tcp made | sed 's,about [0-9]* hosts,about N hosts,' >report
sed -n '/^  began/p; /^  traffic/p; /attempts,/p; / 0:10/p; / 2:50/p' report
grep ' $' report || true
tamis-flows tcp rare | sed -n '/^  traffic/p; /^  time/p'
