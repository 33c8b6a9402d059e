# A line of the flow log can be read as soon as its flow has ended, from a pipe and from an interface, in a file and on
# standard output. Packets come slowly, so no buffer is full.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=20 seed=7 >/dev/null
has_line() { grep -q 'closed' "$1"; }
mkfifo packets
tamis-flows tcp -q --log log - <packets & reader=$!
exec 3>packets
cat made >&3
wait_for has_line log
exec 3>&-
wait $reader
tamis-flows tcp -q --log - - <packets >out & reader=$!
exec 3>packets
cat made >&3
wait_for has_line out
exec 3>&-
wait $reader
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
cat >live.sh <<'END'
. "$CLI_TESTS/helpers.sh"
ip link set lo up
has_line() { grep -q 'closed' "$1"; }
tamis-flows tcp -q -i lo --log live & watcher=$!
wait_for is_capturing $watcher
python3 -c '
import socket
listener = socket.create_server(("127.0.0.1", 8000))
client = socket.create_connection(("127.0.0.1", 8000))
server, _ = listener.accept()
client.close()
server.close()'
wait_for has_line live
kill -INT $watcher
wait $watcher
END
unshare -n sh live.sh
