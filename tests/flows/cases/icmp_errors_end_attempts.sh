# A router says that a network is unreachable, and a host that nobody listens on a UDP port. The errors quote the packets
# that did not arrive: these attempts are over.
. "$CLI_TESTS/helpers.sh"
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
cat >client.py <<'END'
import socket
server = socket.create_server(("127.0.0.1", 4242))
socket.create_connection(("127.0.0.1", 4242)).close()
for i in range(4):  # a router sends few errors at a time
    client = socket.socket()
    client.settimeout(20)
    try:
        client.connect(("10.5.0.1", 80 + i))
    except OSError:
        pass
for i in range(5):
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.sendto(b"hello", ("127.0.0.1", 5000 + i))
    client.close()
END
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
unshare -n sleep 100 & router=$!
wait_for has_own_net $router
ip link set lo up
ip link add out type veth peer name in netns $router
ip addr add 10.1.0.1/24 dev out
ip link set out up
nsenter -n -t $router sh -c 'ip addr add 10.1.0.2/24 dev in; ip link set in up; sysctl -qw net.ipv4.ip_forward=1
    sysctl -qw net.ipv4.icmp_ratelimit=0; ip route add unreachable 10.5.0.0/16'
ip route add 10.5.0.0/16 via 10.1.0.2
tamis-flows tcp --json -i out >tcp & tcp=$!
tamis-flows udp --json -i lo >udp & udp=$!
wait_for is_capturing $tcp
wait_for is_capturing $udp
python3 client.py
kill -INT $tcp $udp
wait $tcp $udp
kill $router
END
unshare -n sh capture.sh
python3 -c '
import json
# If the error comes while the kernel is still busy with connect(), it is ignored there, and the SYN is sent again after
# a second: that is another attempt, which ends by another error.
for name in ("tcp", "udp"):
    lines = [json.loads(line) for line in open(name)]
    errors = [line for line in lines if line["event"] == "unreachable"]
    ports = {line["client_port"] for line in errors}
    found = lines[-1]
    print(name, len(ports), found["flows"] == len(errors), found["states"]["refused"], found["half_open"], errors[0]["server"])'
