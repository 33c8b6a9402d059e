# Capture from the loopback interface until Ctrl-C: 40 connections, and one that is refused.
. "$CLI_TESTS/helpers.sh"
needs_capture
cat >talk.py <<'END'
import os, socket, time
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
open("port", "w").write(str(port))
while not os.path.exists("go"):
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
capture_talk tcp
tail -n 1 lines | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["flows"], found["events"]["established"], found["events"]["closed"], found["events"]["refused"])'
