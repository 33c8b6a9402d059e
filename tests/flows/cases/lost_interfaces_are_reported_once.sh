# Of two interfaces one is removed while packets are captured: that is said at once, and once, also with several cores.
# The other interface is still read, and the exit code says that something is missing.
. "$CLI_TESTS/helpers.sh"
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
cat >talk.py <<'END'
import socket
server = socket.create_server(("127.0.0.1", 4242))
for i in range(5):
    socket.create_connection(("127.0.0.1", 4242)).close()
    server.accept()[0].close()
END
cat >capture.sh <<'END'
. "$CLI_TESTS/helpers.sh"
ip link set lo up
ip link add one type veth peer name two
ip link set one up
ip link set two up
tamis-flows tcp --json -i one -i lo "$@" >lines 2>errors & watcher=$!
wait_for is_capturing $watcher
ip link del one
wait_for grep -q '"lost"' lines
python3 talk.py
kill -INT $watcher
code_of wait $watcher
END
for cores in 1 2; do
    unshare -n sh capture.sh --cores $cores
    grep -o '"event":"lost".*' lines | sed 's/"time":[0-9.]*,//'
    cat errors
    tail -n 1 lines | grep -o '"flows":[0-9][0-9]*\|"is_complete":[a-z]*'
done
# The last one: that is the end.
cat >last.sh <<'END'
. "$CLI_TESTS/helpers.sh"
ip link add one type veth peer name two
ip link set one up
tamis-flows tcp -q -i one --cores 2 & watcher=$!
wait_for is_capturing $watcher
ip link del one
code_of wait $watcher
END
unshare -n sh last.sh
