# Real TLS connections on the loopback interface, of versions 1.2 and 1.3, and one that ends before its handshake does.
. "$CLI_TESTS/helpers.sh"
command -v openssl >/dev/null || skip "no openssl here"
needs_capture
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -subj /CN=localhost -days 2 2>/dev/null
sed 's/^over tcp port .*/over tcp/' "$TAMIS_SOURCE/flows/machines/tls.machine" >any.machine
cat >talk.py <<'END'
import os, socket, ssl, threading, time
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain("certificate", "key")
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]

def serve():
    while True:
        other, _ = listener.accept()
        try:
            with server.wrap_socket(other, server_side=True) as talk:
                talk.sendall(talk.recv(100))
        except (OSError, ssl.SSLError):
            pass

threading.Thread(target=serve, daemon=True).start()
open("port", "w").write(str(port))
while not os.path.exists("go"):
    time.sleep(0.05)
for i in range(20):
    client = ssl.create_default_context(cafile="certificate")
    version = ssl.TLSVersion.TLSv1_2 if i % 2 else ssl.TLSVersion.TLSv1_3
    client.minimum_version = client.maximum_version = version
    with socket.create_connection(("127.0.0.1", port)) as plain:
        with client.wrap_socket(plain, server_hostname="localhost") as talk:
            talk.sendall(b"hello")
            talk.recv(100)
with socket.create_connection(("127.0.0.1", port)) as plain:  # a hello, and no more
    plain.sendall(bytes([22, 3, 1, 0, 4, 1, 0, 0, 0]))
END
capture_talk run any.machine
tail -n 1 lines | python3 -c '
import json, sys
found = json.load(sys.stdin)
events = found["events"]
print([events[name] for name in ("client-hello", "server-hello", "encrypted", "closed")])
print(events["alert"] + events["no-answer"], found["anomalies"])'
