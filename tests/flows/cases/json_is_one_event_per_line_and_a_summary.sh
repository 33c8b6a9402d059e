tamis-make-capture mixed made connections=500 >/dev/null
tamis-flows tcp --json --seed 1 made >lines
python3 - <<'END'
import collections, json
lines = [json.loads(line) for line in open("lines")]
*events, summary = lines
count = collections.Counter(event["event"] for event in events if event["event"] not in ("aged", "top"))
reported = {name: n for name, n in summary["events"].items() if n}
scans = sum(event.get("what") == "likely scan" for event in events)
odd = sum(summary["anomalies"].values()) + scans
if summary["event"] != "summary" or count != collections.Counter(dict(reported, anomaly=odd)):
    print(count, reported, odd)
if scans != len(summary["scans"]):
    print("scans", scans, summary["scans"])
for event in events:
    needed = {"aged": {"state", "flows"}, "anomaly": {"what"}, "top": {"role", "by", "hosts"}}.get(event["event"], {"client", "server_port"})
    if not needed <= set(event) or not 1.7e9 <= event["time"] <= 1.7e9 + 100:
        print(event)
END
head -n 1 lines
