# Requests go through one pair of interfaces, and answers come through another. Read in the order of their timestamps,
# they are whole connections: none is picked up in the middle.
. "$CLI_TESTS/helpers.sh"
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
cat >server.py <<'END'
import socket
server = socket.create_server(("10.1.0.2", 4242), backlog=64)
open("port", "w").write("4242")
for i in range(100):
    other, _ = server.accept()
    other.recv(10)
    other.sendall(b"world")
    other.recv(10)
    other.close()
END
cat >client.py <<'END'
import socket
for i in range(100):
    client = socket.create_connection(("10.1.0.2", 4242), source_address=("10.2.0.1", 0))
    client.sendall(b"hello")
    client.recv(10)
    client.close()
END
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
unshare -n sleep 100 & other=$!
wait_for has_own_net $other
ip link add one type veth peer name one netns $other
ip link add two type veth peer name two netns $other
ip addr add 10.1.0.1/24 dev one
ip addr add 10.2.0.1/24 dev two
ip link set one up
ip link set two up
sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.one.rp_filter=0 net.ipv4.conf.two.rp_filter=0
nsenter -n -t $other sh -c 'ip addr add 10.1.0.2/24 dev one; ip addr add 10.2.0.2/24 dev two; ip link set one up
    ip link set two up; exec python3 server.py' & server=$!
wait_for test -s port
tamis-flows tcp --json -i one -i two -f tcp >lines & watcher=$!
wait_for is_capturing $watcher
python3 client.py
wait $server
kill -INT $watcher
wait $watcher
kill $other
END
unshare -n sh capture.sh
tail -n 1 lines | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["flows"], found["events"]["established"], found["events"]["closed"], found["events"].get("picked-up", 0), found["dropped"])'
