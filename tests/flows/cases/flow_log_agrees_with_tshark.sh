# Each connection has a line. Ends and states are exact, times to 8 ms, and bytes and packets within their
# errors: compared with what tshark finds in the same capture.
. "$CLI_TESTS/helpers.sh"
command -v tshark >/dev/null || skip "no tshark here"
tamis-make-capture mixed made connections=1500 scans=0 seed=3 >truth
tamis-flows tcp -q --seed 1 -e 1e-9 --log log made
tamis-flows tcp -q --seed 1 -e 1e-9 --log - --log-json made >lines
tshark -r made -Y tcp -T fields -E separator=' ' -E occurrence=l -e tcp.stream -e frame.time_epoch -e ip.src -e ipv6.src \
    -e ip.dst -e ipv6.dst -e tcp.srcport -e tcp.dstport -e tcp.len 2>/dev/null | tr -s ' ' >theirs
python3 - <<'END'
import collections, json, math
streams = {}
for line in open("theirs"):
    stream, time, source, target, from_port, to_port, size = line.split()
    found = streams.setdefault(stream, {"client": (source, from_port), "server": (target, to_port), "first": float(time),
                                        "bytes": [0, 0], "packets": [0, 0]})
    side = (source, from_port) != found["client"]
    found["last"] = float(time)
    found["bytes"][side] += int(size)
    found["packets"][side] += 1
header, *rows = open("log").read().splitlines()
names = header[1:].split("\t")
lines = [dict(zip(names, row.split("\t"))) for row in rows]
truth = json.load(open("truth"))
states = collections.Counter(line["state"] for line in lines if line["cause"] == "packet")
if states != collections.Counter({name: truth[name] for name in ("closed", "reset", "refused")}):
    print(states, truth)
if len(lines) != truth["tcp"]:
    print(len(lines), truth)
same = [json.loads(line) for line in open("lines")]
if [str(line["client_port"]) for line in same] != [line["client_port"] for line in lines]:
    print("the JSON differs")
# In JSON the guess is true or false, as in events; in columns it is 1 or 0.
if [line["is_guess"] for line in same] != [line["is_guess"] == "1" for line in lines] or \
        {type(line["is_guess"]) for line in same} != {bool}:
    print("is_guess differs")
ends = collections.defaultdict(list)
for found in streams.values():
    ends[found["client"], found["server"]].append(found)
errors, packets, n_late = [], [], 0
for line in lines:
    key = (line["client"], line["client_port"]), (line["server"], line["server_port"])
    candidates = [found for found in ends[key] if abs(found["first"] - float(line["time"])) < 0.02]
    if len(candidates) != 1:
        if line["is_guess"] == "0":
            print("no such connection:", line)
        continue
    found = candidates[0]
    n_late += float(line["end"]) - found["last"] > 0.001
    for side, name in enumerate(("client", "server")):
        if found["bytes"][side] > 0:
            errors.append(int(line[name + "_bytes"]) / found["bytes"][side] - 1)
        packets.append(int(line[name + "_packets"]) - found["packets"][side])
mean, deviation = sum(errors) / len(errors), math.sqrt(sum(error * error for error in errors) / len(errors))
print(len(errors) > 1500, n_late, abs(mean) < 0.01, deviation < 0.11)
# the last ACK comes after the end, and is not counted
print(sorted(set(packets)))
END
# Columns and a filter.
tamis-flows tcp -q --seed 1 -e 1e-9 --log - --log-columns state,server_port --log-where 'cause=packet,state!=closed,server_port<=25' made |
    sort | uniq -c | tr -s ' ' | cut -d' ' -f3 | sort -u
# A file is continued, with one line of names.
tamis-flows tcp -q --seed 1 -e 1e-9 --log log made
grep -c '^#' log
