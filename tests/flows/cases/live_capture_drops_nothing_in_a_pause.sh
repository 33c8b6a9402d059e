# iperf3 fills the ring while the tool is stopped, until 8000 packets have come. Nothing is lost: only the first bytes of
# each packet are kept. With the smallest buffer packets are lost, and that is reported: as an event, in the summary, in
# the exit code.
#
# A packet takes 160 to 608 bytes of the ring, with the kernel's headers, and on the loopback interface twice as much:
# it is seen when it is sent and when it is received. So 1 MiB has room for 3300 packets at most, and 64 MiB for 55,000 at
# least. At 2 Gbit/s there come 7,300 in a second (measured): the large ring is not full even if a busy machine ends the
# pause six seconds too late.
. "$CLI_TESTS/helpers.sh"
command -v iperf3 >/dev/null || skip "iperf3 is not installed"
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
ip link set lo up
iperf3 -s -1 >/dev/null 2>&1 & server=$!
wait_for is_listening 5201
tamis-flows tcp --json -i lo "$@" >lines & watcher=$!
wait_for is_capturing $watcher
iperf3 -c 127.0.0.1 -t 100 -b 2G >/dev/null 2>&1 & client=$!
packets() { awk '$1 == "lo:" { print $3 }' /proc/net/dev; }
have_come() { test "$(packets)" -ge "$1"; }
wait_for have_come 500
kill -STOP $watcher
wait_for have_come $(($(packets) + 8000))
kill -CONT $watcher
kill $client
wait $client $server || true
kill -INT $watcher
wait $watcher && code=0 || code=$?
echo "exit $code"
END
unshare -n sh capture.sh --fail-on-drops
tail -n 1 lines | python3 -c '
import json, sys
found = json.load(sys.stdin)
print("dropped", found["dropped"], found["packets"] > 8000, found["flows"], found["events"]["established"])'
unshare -n sh capture.sh --fail-on-drops --buffer 1M
python3 -c '
import json
lines = [json.loads(line) for line in open("lines")]
drops = [line for line in lines if line["event"] == "dropped"]
total = lines[-1]["dropped"]
print(len(drops) > 0, sum(drop["packets"] for drop in drops) == total, drops[-1]["total"] == total, drops[0]["interface"])'
