# timeout(1) signals the process and at once its group, too. The report must still be printed.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=20 >/dev/null
mkfifo pipe
sleep 20 >pipe & holder=$!
for signal in INT TERM INT TERM INT TERM; do
    tamis-flows tcp pipe >report & reader=$!
    cat made >pipe
    sleep 0.3
    for i in 1 2 3 4 5; do kill -$signal $reader 2>/dev/null || true; done
    code_of wait $reader
    grep -c '^  flows ' report
done | sort | uniq -c | tr -s ' '
kill $holder
