# The kernel follows connections, too (nf_conntrack). It has the same flows, in the same states, from the same clients.
# Only refused connections are not there: the kernel forgets them at once.
. "$CLI_TESTS/helpers.sh"
PATH=$PATH:/usr/sbin:/sbin
for program in unshare ip nft conntrack; do command -v $program >/dev/null || skip "no $program here"; done
unshare -n sh -c 'ip link set lo up && nft add table ip t && conntrack -L' >/dev/null 2>why || skip "no conntrack here: $(cat why)"
cat >talk.py <<'END'
import os, socket, struct, subprocess, time
server = socket.create_server(("127.0.0.1", 4242), backlog=100)
kept = []
def connect():
    client = socket.create_connection(("127.0.0.1", 4242))
    other, _ = server.accept()
    client.sendall(b"hello")
    other.recv(10)
    return client, other
for _ in range(30):  # closed by both
    client, other = connect()
    client.close()
    other.recv(10)
    other.close()
for _ in range(10):  # reset by the client
    client, other = connect()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    kept.append(other)
for _ in range(12):  # open
    kept += connect()
for _ in range(15):  # refused
    with socket.socket() as client:
        client.connect_ex(("127.0.0.1", 4243))
for _ in range(7):  # dropped on the way
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", 9999))
    kept.append(client)
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 5000))
for i in range(20):  # every other one is answered
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect(("127.0.0.1", 5000))
    client.send(b"%d" % i)
    _, back = receiver.recvfrom(10)
    if i % 2:
        receiver.sendto(b"yes", back)
        client.recv(10)
    kept.append(client)
open("theirs", "w").write(subprocess.run(["conntrack", "-L"], capture_output=True, text=True, check=True).stdout)
open("done", "w").write("yes")
while not os.path.exists("end"):  # connections stay open until then
    time.sleep(0.05)
END
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
ip link set lo up
nft add table ip t
nft 'add chain ip t in { type filter hook input priority 0; }'
nft add rule ip t in ct state new counter
nft add rule ip t in tcp dport 9999 drop
sysctl -qw net.netfilter.nf_conntrack_tcp_timeout_close=300 net.netfilter.nf_conntrack_udp_timeout=300
tamis-flows tcp -q -i lo --log tcp & one=$!
tamis-flows udp -q -i lo --log udp & two=$!
wait_for is_capturing $one
wait_for is_capturing $two
python3 talk.py & talker=$!
wait_for test -s done
kill -INT $one $two
wait $one $two
touch end
wait $talker
END
unshare -n sh capture.sh
python3 - <<'END'
import collections, re
NAMES = {"TIME_WAIT": "closed", "CLOSE": "reset", "ESTABLISHED": "established", "SYN_SENT": "syn"}
theirs, ours = {}, {}
for line in open("theirs"):
    source, target, from_port, to_port = (re.search(name + "=([0-9.]+)", line).group(1) for name in ("src", "dst", "sport", "dport"))
    if line.startswith("tcp"):
        state = NAMES.get(line.split()[3], line.split()[3])
    else:
        state = "one-way" if "[UNREPLIED]" in line else "two-way"
    theirs[line[:3], source, from_port, target, to_port] = state
for name in "tcp", "udp":
    header, *lines = open(name).read().splitlines()
    names = header[1:].split("\t")
    for line in lines:
        row = dict(zip(names, line.split("\t")))
        ours[name, row["client"], row["client_port"], row["server"], row["server_port"]] = row["state"]
for key in sorted({*theirs, *ours}):
    if theirs.get(key, "refused") != ours.get(key):
        print(key, "conntrack:", theirs.get(key), "tamis-flows:", ours.get(key))
print(sorted(collections.Counter((key[0], state) for key, state in ours.items()).items()))
END
