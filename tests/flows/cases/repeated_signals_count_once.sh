# timeout(1) signals the process and at once its group, too. The report must still be printed.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=20 >/dev/null
mkfifo pipe
# No bytes are left in the pipe. (The reader's own count of bytes includes what it has read from its libraries.)
is_empty() {
    python3 -c '
import array, fcntl, os, sys, termios
left = array.array("i", [0])
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK), termios.FIONREAD, left)
sys.exit(left[0] != 0)' "$1"
}
sleep 100 >pipe & holder=$!
for signal in INT TERM INT TERM INT TERM; do
    tamis-flows tcp pipe >report & reader=$!
    cat made >pipe
    wait_for is_empty pipe
    for i in 1 2 3 4 5; do kill -$signal $reader 2>/dev/null || true; done
    code_of wait $reader
    grep -c '^  flows ' report
done | sort | uniq -c | tr -s ' '
kill $holder
