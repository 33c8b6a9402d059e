# timeout(1) signals the process and at once its group, too. The report must still be printed.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=20 >/dev/null
mkfifo pipe
has_read_all() { test "$(awk '$1 == "rchar:" { print $2 }' "/proc/$1/io")" -ge "$(wc -c <made)"; }
sleep 100 >pipe & holder=$!
for signal in INT TERM INT TERM INT TERM; do
    tamis-flows tcp pipe >report & reader=$!
    cat made >pipe
    wait_for has_read_all $reader
    for i in 1 2 3 4 5; do kill -$signal $reader 2>/dev/null || true; done
    code_of wait $reader
    grep -c '^  flows ' report
done | sort | uniq -c | tr -s ' '
kill $holder
