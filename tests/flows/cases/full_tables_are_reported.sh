# A table that is too small forgets flows that nobody has answered or that are over, says so when it begins, and
# refuses flows only if nothing can be forgotten.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture flood flood connections=97000 packets=60 >/dev/null
code_of tamis-flows tcp --flows 20k --seed 1 flood >out 2>err
tail -n 1 out
cat err
grep -o 'evicted  *[0-9,]* flows' out | tr -d '0-9,'
sed -n '/floods/,/^$/p' out | sed 's/ [0-9]*,[0-9]* / nn,nnn /'
code_of tamis-flows tcp --flows 20k --json --seed 1 flood >lines 2>err
python3 - <<'END'
import json
*events, summary = [json.loads(line) for line in open("lines") if line.startswith("{")]
full = [event for event in events if event["event"] == "full"]
print([(event["action"], event["flows_now"]) for event in full], summary["no_room"], summary["evicted"] > 76000)
flood, = summary["floods"]
print(75000 < flood.pop("flows") < 120000, flood)  # an estimate
# Every real connection is followed, from its beginning to its end (but for a false positive in 2000).
print(summary["events"]["established"] >= 59, summary["events"]["closed"] >= 59)
END
# Lone packets are as cheap to forge as SYNs. They are not called established, and make room for real connections.
for flags in 16:0 24:100 17:0 4:0 18:0; do
    tamis-make-capture flood lone connections=30000 packets=60 flags=${flags%:*} payload=${flags#*:} >/dev/null
    code_of tamis-flows tcp --flows 20k --json --seed 1 lone >lines 2>err
    FLAGS=$flags python3 - <<'END'
import json, os
*events, summary = [json.loads(line) for line in open("lines") if line.startswith("{")]
print(os.environ["FLAGS"], summary["no_room"], summary["evicted"] > 9000, summary["states"]["established"] < 20,
      summary["events"]["established"] >= 59, summary["events"]["closed"] >= 59,
      [(flood["kind"], flood["target"], flood["target_port"]) for flood in summary["floods"]])
END
done
# Nothing can be forgotten: the table refuses new flows, and says so. A flow without room has no events.
python3 - <<'END'
import struct

def tcp(port, flags, is_back=False):
    ends = [bytes([10, 0, port >> 8, port & 255]), bytes([10, 1, 0, 1])]
    ports = [40000, 80]
    if is_back:
        ends.reverse(), ports.reverse()
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, *ends)
    return bytes(12) + b"\x08\0" + ip + struct.pack(">HHIIBBHHH", *ports, 1, 0, 5 << 4, flags, 1000, 0, 0)

with open("many", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i in range(2000):
        for packet in tcp(i, 2), tcp(i, 18, True), tcp(i, 16):
            file.write(struct.pack("<IIII", i // 100, 0, len(packet), len(packet)) + packet)
END
code_of tamis-flows tcp --flows 500 --json --seed 1 many >lines 2>err
tail -n 1 lines
grep refused err | cut -d: -f2- | sed 's/ [0-9]* flows/ N flows/'
python3 - <<'END'
import collections, json
*events, summary = [json.loads(line) for line in open("lines") if line.startswith("{")]
reported = collections.Counter(event["event"] for event in events if event["event"] not in ("aged", "top", "full", "anomaly"))
if reported != collections.Counter({name: n for name, n in summary["events"].items() if n}):
    print(reported, summary["events"])
print(summary["no_room"] > 1000, summary["states"]["established"] >= 500)
END
# It is said again when the table has had room in between, and once only while it has not.
python3 - <<'END'
import struct
with open("twice", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i in range(6000):
        second = i // 50 if i < 4000 else 600 + i // 50
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, bytes([10, 0, i >> 8, i & 255]), bytes([10, 1, 0, 1]))
        packet = bytes(12) + b"\x08\0" + ip + struct.pack(">HHIIBBHHH", 40000, 80, 1, 0, 5 << 4, 2, 1000, 0, 0)
        file.write(struct.pack("<IIII", 1700000000 + second, 0, len(packet), len(packet)) + packet)
END
code_of tamis-flows tcp --flows 1000 --json --seed 1 twice 2>err | sed -n 's/.*"full","time":17000\(00...\).*/\1/p; /^exit/p'
grep -c 'table is full' err
# The message has the number of flows in the table, also if the first packets fill it.
tamis-make-capture bulk crowd connections=1000 packets=2 >/dev/null
code_of tamis-flows tcp -q --flows 1 --seed 1 crowd 2>err
grep -c 'full of 0 flows' err || true
