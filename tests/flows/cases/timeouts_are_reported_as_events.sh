tamis-make-capture mixed made connections=500 seconds=400 >truth
tamis-flows tcp --json --seed 1 -e 1e-9 made >lines
python3 - <<'END'
import collections, json
*events, summary = [json.loads(line) for line in open("lines")]
aged = collections.Counter()
times = collections.Counter()
for event in events:
    if event["event"] == "aged":
        aged[event["state"]] += event["flows"]
        times[event["time"], event["state"]] += 1
if sum(times.values()) > 1.05 * len(times):  # ageing that was behind is reported in two parts
    print("reported twice:", times.most_common(3))
reported = {state: n for state, n in summary["aged"].items() if n}
if aged != collections.Counter(reported) or not aged["syn"]:
    print(aged, reported)
again = summary["flows"] - summary["flows_now"] - sum(reported.values())
if again != json.load(open("truth"))["reused"]:
    print("opened again:", again)
END
