# The intervals of a capture, as text, CSV and JSON: they add up to the summary, and end at whole intervals of its time.
tamis-make-capture mixed sample.pcap connections=2000 seed=7 >/dev/null
tamis-flows tcp --seed 1 --interval 10s --csv sample.pcap >rows.csv
tamis-flows tcp --seed 1 --interval 10s --json sample.pcap >lines
tamis-flows tcp --seed 1 --interval 20s sample.pcap | sed '/^$/q'
python3 -c '
import csv, json
rows = list(csv.DictReader(open("rows.csv")))
lines = [json.loads(line) for line in open("lines")]
summary, intervals = lines[-1], [line for line in lines if line["event"] == "interval"]
print(len(rows), len(intervals), [float(row["time"]) - float(rows[0]["time"]) for row in rows[:3]])
for name in ("packets", "bytes", "flows"):
    print(name, sum(int(row[name]) for row in rows) == summary[name] == sum(line[name] for line in intervals))
print(all(sum(int(row[name]) for row in rows) == n for name, n in summary["events"].items()))
print(int(rows[-1]["flows_now"]) == summary["flows_now"], rows[-1]["dropped"])
# Who: the scans are those of their minute, and nobody is accused after it.
print([(row["likely_scans"], row["top_source_by_flows"], row["top_source_flows"]) for row in rows[:3]])
print([[(scan["source"], scan["attempts"]) for scan in line["scans"]] for line in intervals])
print(all(line["top"]["targets"]["bytes"][0]["count"] <= line["bytes"] for line in intervals))'
# A table that is too small: evictions are in each form.
tamis-make-capture flood flood.pcap connections=5000 >/dev/null
tamis-flows tcp --seed 1 --flows 1000 --interval 20s --csv flood.pcap >rows.csv 2>/dev/null || true
tamis-flows tcp --seed 1 --flows 1000 --interval 20s --json flood.pcap >lines 2>/dev/null || true
tamis-flows tcp --seed 1 --flows 1000 --interval 20s flood.pcap 2>/dev/null | sed -n '/^2/p; /flood/p; /^$/q' || true
python3 -c '
import csv, json
rows = list(csv.DictReader(open("rows.csv")))
*events, summary = [json.loads(line) for line in open("lines")]
intervals = [line for line in events if line["event"] == "interval"]
sums = sum(int(row["evicted"]) for row in rows), sum(line["evicted"] for line in intervals)
print(summary["evicted"] > 3000, all(total == summary["evicted"] for total in sums))'
tamis-make-capture flood flood.pcap connections=20000 >/dev/null
tamis-flows tcp --seed 1 --interval 20s --csv flood.pcap >rows.csv
tamis-flows tcp --seed 1 --interval 20s --json --metrics prom flood.pcap >lines
tamis-flows tcp -q --seed 1 --metrics scans sample.pcap
python3 -c '
import csv, json
rows = list(csv.DictReader(open("rows.csv")))
lines = [json.loads(line) for line in open("lines")]
found = [flood for line in lines if line["event"] == "interval" for flood in line["floods"]]
summary = lines[-1]["floods"]
print([row["floods"] for row in rows[:3]], [row["top_target_by_flows"] for row in rows[:3]])
print(sum(flood["flows"] for flood in found) == summary[0]["flows"], 14000 < summary[0]["flows"] < 26000)'
grep -hE '^tamis_flows_(floods|scans|retries)_total' prom scans
tamis-flows tcp --seed 1 --json --rotate 20k --keep 3 -o log sample.pcap
tamis-flows tcp --seed 1 --json sample.pcap >whole
ls log*
cat log.3 log.2 log.1 log >parts
python3 -c '
parts, whole = (open(name).read().splitlines()[:-1] for name in ("parts", "whole"))  # the summary has the speed
print(len(parts) > 100, whole[-len(parts):] == parts)'
