# Through a pipe and back: the same answers, counts and geometry, and the same stream again.
. "$CLI_TESTS/helpers.sh"
seq 10000 >keys
{ cat keys; seq 3000; yes flood | head -n 100; } >copies
seq 9000 30000 >others
# in a set that can remove and does not count, copies take room: 10000 + 3000, and 8 of the flood
for options in '-n 12k' '-n 12k --small' '-n 14k --remove' '-n 14k --remove --small' '-n 12k --remove --count' \
    '-n 12k --count --small' '-n 12k --hash siphash --count'; do
    # shellcheck disable=SC2086 # a list of words
    tamis build -q a.tamis --kind rank $options copies 2>err || { grep -q 'not built' err; continue; }
    tamis send -q a.tamis | tamis receive -q b.tamis
    tamis has a.tamis others >expected
    tamis has b.tamis others | cmp - expected
    tamis info a.tamis | sed 1d | grep -v '^  hash' >expected
    tamis info b.tamis | sed 1d | grep -v '^  hash' | diff expected -
    if tamis count a.tamis copies others >expected 2>/dev/null; then
        tamis count b.tamis copies others | cmp - expected
        tamis remove -q b.tamis keys
        test "$(seq 3000 | tamis has -c b.tamis)" = 3000
        test "$(tamis has -c b.tamis keys)" -lt 3500
    else
        test "$(tamis has -c b.tamis keys)" = 10000
    fi
    tamis send -q a.tamis >a.stream
    tamis receive -q b.tamis a.stream
    tamis send -q b.tamis | cmp - a.stream
    tamis verify -q b.tamis
done
