# Connections through real tunnels, of each kind that this kernel can make: captured outside, the flows inside are seen.
. "$CLI_TESTS/helpers.sh"
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
cat >server.py <<'END'
import socket
server = socket.create_server(("10.2.0.2", 4242))
open("ready", "w").write("yes")
for i in range(5):
    other, _ = server.accept()
    other.recv(10)
    other.close()
END
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
kind=$1 options=$2 tag=$3
unshare -n sleep 100 & other=$!
wait_for has_own_net $other
ip link add out type veth peer name out netns $other
ip addr add 10.1.0.1/24 dev out
ip link set out up
ip link add tunnel type $kind $options local 10.1.0.1 remote 10.1.0.2 2>/dev/null || { kill $other; exit 0; }
nsenter -n -t $other sh -c "ip addr add 10.1.0.2/24 dev out; ip link set out up
    ip link add tunnel type $kind $options local 10.1.0.2 remote 10.1.0.1; ip addr add 10.2.0.2/24 dev tunnel; ip link set tunnel up"
ip addr add 10.2.0.1/24 dev tunnel
ip link set tunnel up
nsenter -n -t $other python3 server.py & server=$!
wait_for test -s ready
tamis-flows tcp --json -i out >lines & watcher=$!
wait_for is_capturing $watcher
python3 -c '
import socket
for i in range(5):
    client = socket.create_connection(("10.2.0.2", 4242))
    client.sendall(b"hello")
    client.recv(10)
    client.close()'
wait $server
kill -INT $watcher
wait $watcher
kill $other
rm -f ready
tail -n 1 lines | python3 -c '
import json, sys
found = json.load(sys.stdin)
line = (found["flows"], found["events"]["established"], found["events"]["closed"])
print(sys.argv[1] if line == (5, 5, 5) else f"{sys.argv[1]}: {line}", file=sys.stderr if line != (5, 5, 5) else sys.stdout)' $tag
END
{
    unshare -n sh capture.sh vxlan "id 5 dstport 4789" vxlan
    unshare -n sh capture.sh gre "" gre
    unshare -n sh capture.sh gretap "" gretap
    unshare -n sh capture.sh ipip "" ipip
} >seen
test -s seen || skip "this kernel has no tunnels"
