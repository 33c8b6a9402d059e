. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=3000 >/dev/null
code_of tamis-flows tcp --flows 500 --seed 1 made >out
tail -n 1 out
grep -c 'no room' out
code_of tamis-flows tcp --flows 500 --json --seed 1 made | tail -n 1
# A flow without room in the table has no events, so there are at most as many events as flows.
tamis-make-capture bulk many connections=2000 packets=10 >/dev/null
tamis-flows tcp --flows 500 --json many >lines || true
python3 - <<'END'
import collections, json
*events, summary = [json.loads(line) for line in open("lines")]
reported = collections.Counter(event["event"] for event in events if event["event"] != "aged")
if reported != collections.Counter({name: n for name, n in summary["events"].items() if n}):
    print(reported, summary["events"])
if not summary["refused"] or reported["picked-up"] > summary["flows"] or reported["established"] > summary["flows"]:
    print(reported, summary["flows"])
END
