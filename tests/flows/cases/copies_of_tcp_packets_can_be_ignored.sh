# A mirrored port sees each packet twice. Connections are the same then, and packets and bytes are twice as many, unless
# copies are ignored (--duplicates).
tamis-make-capture mixed once connections=500 scans=1 seed=3 >/dev/null
python3 - <<'END'
import struct
data = open("once", "rb").read()
with open("twice", "wb") as file:
    file.write(data[:24])
    at = 24
    while at < len(data):
        seconds, micros, captured, size = struct.unpack_from("<IIII", data, at)
        record = data[at + 16:at + 16 + captured]
        at += 16 + captured
        for delay in 0, 900:  # 0.9 ms later
            time = seconds * 1000000 + micros + delay
            file.write(struct.pack("<IIII", time // 1000000, time % 1000000, captured, size) + record)
END
summary() { tamis-flows tcp --seed 1 -e 1e-9 --json --log "$1.log" "$@" | tail -n 1 >"$1.json"; }
summary once
summary twice
tamis-flows tcp --seed 1 -e 1e-9 --json --log ignored.log --duplicates 2ms twice | tail -n 1 >ignored.json
python3 - <<'END'
import json
def rows(name, *columns):
    header, *lines = open(name + ".log").read().splitlines()
    names = header[1:].split("\t")
    return sorted([line.split("\t")[names.index(column)] for column in columns] for line in lines)
once, twice, ignored = (json.load(open(name + ".json")) for name in ("once", "twice", "ignored"))
print(all(once[name] == twice[name] == ignored[name] for name in ("flows", "states", "events")))
print([len(found["scans"]) for found in (once, twice, ignored)])
print(once["duplicates"], twice["duplicates"], ignored["duplicates"] >= 0.99 * once["machine_packets"])
ends = "client", "client_port", "server", "server_port", "state"
counts = *ends, "client_packets"
print(rows("once", *ends) == rows("twice", *ends) == rows("ignored", *ends))
print(rows("once", *counts) == rows("twice", *counts), rows("once", *counts) == rows("ignored", *counts))
END
