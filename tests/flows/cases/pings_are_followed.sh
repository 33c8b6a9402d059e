# ping(8), on IPv4 and IPv6: answered, not answered, unreachable, and with too short a life.
. "$CLI_TESTS/helpers.sh"
command -v ping >/dev/null || skip "no ping here"
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
unshare -n sh -c 'ip link set lo up && ip -6 addr add fd00::1/64 dev lo' 2>/dev/null || skip "no IPv6 here"
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
unshare -n sleep 100 & router=$!
wait_for has_own_net $router
ip link add out type veth peer name in netns $router
ip addr add 10.1.0.1/24 dev out
ip addr add fd00::1/64 dev out nodad
ip link set out up
nsenter -n -t $router sh -c 'ip addr add 10.1.0.2/24 dev in; ip addr add fd00::2/64 dev in nodad; ip link set in up
    sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0; ip route add unreachable 10.5.0.0/16
    ip route add blackhole 10.7.0.0/16; ip route add 10.6.0.0/16 dev in'
for net in 5 6 7; do ip route add 10.$net.0.0/16 via 10.1.0.2; done
tamis-flows icmp --json -q -i out --log log --log-columns client,server,state >lines & watcher=$!
wait_for is_capturing $watcher
ping -q -c 5 -i 0.2 10.1.0.2 >pings
ping -q -c 3 -i 0.2 -6 fd00::2 >>pings
ping -q -c 2 -i 0.2 -W 1 10.5.0.1 >>pings
ping -q -c 1 -t 1 -W 1 10.6.0.1 >>pings
ping -q -c 2 -i 0.2 -W 1 10.7.0.1 >>pings
kill -INT $watcher
wait $watcher
kill $router
END
unshare -n sh capture.sh || true
grep -o '[0-9]* packets transmitted, [0-9]* received' pings
python3 - <<'END'
import json
*events, summary = [json.loads(line) for line in open("lines")]
counts = summary["events"]
print({name: counts[name] for name in ("asked", "answered", "unreachable", "time-exceeded")}, sum(summary["anomalies"].values()))
# Ping's identifiers are process ids, which are in no certain order. On a machine that stands still for ten seconds, a
# flow times out, and has two lines.
for line in sorted({line for line in open("log") if not line.startswith("#")}):
    print(*line.split())
print([event["server"] for event in events if event["event"] == "asked"][-1])
END
