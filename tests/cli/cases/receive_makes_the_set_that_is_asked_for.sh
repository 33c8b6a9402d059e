. "$CLI_TESTS/helpers.sh"
seq 5000 >keys
tamis build -q a.tamis -n 5000 -e 1% --remove --count --kind rank --seed 1 keys
tamis send -q a.tamis >stream
seq 50000 | tamis has a.tamis >expected
field() { tamis info --json "$1" | python3 -c "import json, sys; print(json.load(sys.stdin)$2)"; }
for options in '-n 20k -e 5% --remove' '-n 20k -e 5%' '-n 7500' '--small' '--fast --remove' \
    '--count --geometry counter_bits=4' '--kind rank --remove --lifetime 1M' '--merge --overflow 1e-6' '-e 1%'; do
    # shellcheck disable=SC2086 # a list of words
    tamis receive -q b.tamis $options stream
    seq 50000 | tamis has b.tamis | cmp - expected
    echo "$options: $(field b.tamis "['capacity']") $(field b.tamis "['abilities']")"
done
# more wrong answers must be allowed: half as many again come of themselves
code_of tamis receive c.tamis -n 7600 stream
code_of tamis receive c.tamis -n 20k --remove stream
code_of tamis receive c.tamis -n 20k -e 3% stream
code_of tamis receive c.tamis -e 0.1% stream
test ! -e c.tamis
# removal is kept unless other abilities are asked for, and costs what it costs
tamis receive -q kept.tamis --small stream
tamis receive -q given-up.tamis --small --merge stream
[ $((100 * $(field given-up.tamis "['body_bytes']"))) -lt $((85 * $(field kept.tamis "['body_bytes']"))) ]
seq 5000 | tamis remove -q kept.tamis
code_of tamis remove given-up.tamis keys
# buckets are those of the fixed number of fingerprints
buckets=$(tamis info a.tamis | sed -n 's/^  geometry .*buckets=\([0-9]*\),.*/\1/p')
tamis receive -q b.tamis --kind rank --geometry "buckets=$buckets" stream
test "$(tamis info b.tamis | sed -n 's/^  geometry .*buckets=\([0-9]*\),.*/\1/p')" = "$buckets"
code_of tamis receive c.tamis --kind rank --geometry "buckets=$((buckets + 1))" stream
tamis receive -q larger.tamis -n 20k -e 5% --remove stream
seq 5001 20000 | tamis build -q rest.tamis --like larger.tamis
tamis receive -q b.tamis --like larger.tamis stream
tamis merge -q all.tamis b.tamis rest.tamis
seq 20000 | tamis has -c all.tamis
rm b.tamis
code_of tamis receive b.tamis -n 500 --remove stream
code_of tamis receive b.tamis -n auto stream
code_of tamis receive b.tamis --geometry chains=11 stream
code_of tamis receive b.tamis --like a.tamis -n 1000 stream
code_of tamis receive b.tamis --like a.tamis -e 1% stream
code_of tamis receive b.tamis --lifetime 4999 stream
code_of tamis receive b.tamis stream stream
code_of tamis receive
code_of tamis receive b.tamis missing
code_of tamis receive b.tamis .
test ! -e b.tamis
code_of tamis receive keys stream
code_of tamis receive -q --force keys stream
tamis verify -q keys
