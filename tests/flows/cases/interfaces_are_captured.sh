# Capture from the loopback interface until Ctrl-C: 40 connections, and one that is refused.
. "$CLI_TESTS/helpers.sh"
tamis-flows tcp -q -i lo -c 1 -f 'port 1' 2>why & probe=$!
wait_for eval 'is_capturing $probe 2>/dev/null || test -s why'
kill -INT $probe 2>/dev/null || true
wait $probe || skip "cannot capture here: $(cat why)"
cat >talk.py <<'END'
import socket
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
open("port", "w").write(str(port))
import time
while True:
    try:
        open("go")
        break
    except OSError:
        time.sleep(0.05)
for _ in range(40):
    client = socket.create_connection(("127.0.0.1", port))
    other, _ = server.accept()
    client.sendall(b"hello")
    other.recv(10)
    client.close()
    other.recv(10)
    other.close()
server.close()
try:
    socket.create_connection(("127.0.0.1", port))
except OSError:
    pass
END
python3 talk.py & talker=$!
wait_for test -s port
tamis-flows tcp --json -i lo -f "port $(cat port)" >lines & watcher=$!
wait_for is_capturing $watcher
touch go
wait $talker
kill -INT $watcher
wait $watcher
tail -n 1 lines | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["flows"], found["events"]["established"], found["events"]["closed"], found["events"]["refused"])'
