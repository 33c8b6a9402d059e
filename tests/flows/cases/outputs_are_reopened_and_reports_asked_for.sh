# A long run: SIGHUP opens the output file again, SIGUSR1 prints a summary, intervals are printed as time passes, and
# the file of metrics is complete whenever it is looked at. Privileges are gone while packets are read.
. "$CLI_TESTS/helpers.sh"
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
ip link set lo up
tamis-flows tcp --json -i lo -o out --interval 200ms --metrics out.prom & watcher=$!
wait_for is_capturing $watcher
grep -E "^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):" /proc/$watcher/status | tr '\t' ' '
python3 -c '
import socket
server = socket.create_server(("127.0.0.1", 4242))
for i in range(5):
    socket.create_connection(("127.0.0.1", 4242)).close()
    server.accept()[0].close()'
wait_for eval 'test "$(grep -c 'event.:.established' out)" = 5'
mv out out.old
kill -HUP $watcher
wait_for test -s out
kill -USR1 $watcher
wait_for grep -q summary out
wait_for eval 'test "$(cat out.old out | grep -c interval)" -ge 5'
tail -n 1 out.prom >/dev/null
kill -INT $watcher
wait $watcher
END
unshare -n sh capture.sh
python3 -c '
import json
old = [json.loads(line) for line in open("out.old")]
new = [json.loads(line) for line in open("out")]
lines = old + new
print(sum(line["event"] == "established" for line in old), len(old) > 0, len(new) > 0)
intervals = [line for line in lines if line["event"] == "interval"]
summaries = [line for line in new if line["event"] == "summary"]
print(len(intervals) >= 5, sum(line["flows"] for line in intervals), len(summaries), new[-1]["event"])
print(sum(line["packets"] for line in intervals) == new[-1]["packets"])'
grep -E "^tamis_flows_(opened_total|events_total.*established)" out.prom
ls
# A report that is asked for stands alone among the lines of intervals. With --csv it goes to standard error.
cat >ask.sh <<'END'
. "$CLI_TESTS/helpers.sh"
ip link set lo up
tamis-flows tcp -i lo --interval 100ms -o rows "$@" 2>told & watcher=$!
wait_for is_capturing $watcher
wait_for test -s rows
kill -USR1 $watcher
wait_for grep -qs '^TCP connections' rows told
lines=$(wc -l <rows)
has_more_lines() { test "$(wc -l <rows)" -gt $((lines + 2)); }
wait_for has_more_lines
kill -INT $watcher
wait $watcher
END
unshare -n sh ask.sh
python3 -c '
lines = open("rows").read().split("\n")
at = lines.index("TCP connections")
after = lines.index(lines[0], at)
print(lines[0][:4], repr(lines[at - 1]), repr(lines[after - 1]), lines.count("TCP connections"))'
rm rows
unshare -n sh ask.sh --csv
python3 -c '
import csv
rows = list(csv.reader(open("rows")))
print({len(row) for row in rows} == {len(rows[0])}, open("told").read().count("TCP connections"))'
