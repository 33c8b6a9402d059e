# Two lanes share the packets of an interface. Each of 300 connections is in one of them, with both directions; none is
# counted twice, or half.
. "$CLI_TESTS/helpers.sh"
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
cat >talk.py <<'END'
import socket
server = socket.create_server(("127.0.0.1", 4242), backlog=64)
for i in range(300):
    client = socket.create_connection(("127.0.0.1", 4242))
    other, _ = server.accept()
    client.sendall(b"hello")
    other.recv(10)
    client.close()
    other.recv(10)
    other.close()
for i in range(20):
    try:
        socket.create_connection(("127.0.0.1", 4243))
    except OSError:
        pass
END
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
ip link set lo up
tamis-flows tcp --json -i lo --cores 2 >lines & watcher=$!
wait_for is_capturing $watcher
ss -0 -e | grep -o "fanout(.*type:hash)" | cut -d, -f2
python3 talk.py
kill -INT $watcher
wait $watcher
END
unshare -n sh capture.sh
python3 -c '
import json
lines = [json.loads(line) for line in open("lines")]
found = lines[-1]
print(found["flows"], found["events"]["established"], found["events"]["closed"], found["dropped"], found["no_room"])
print(sum(line["event"] == "established" for line in lines), sum(found["timeline"]["flows"]),
      sum(found["timeline"]["packets"]) == found["packets"], found["table"]["capacity"] >= 1000000)'
