# A sender that never stops does not get all memory: the header says where the stream ends, and --memory how long it can
# be.
. "$CLI_TESTS/helpers.sh"
seq 400000 | tamis build -q a.tamis -n 400k --remove --seed 1
tamis send -q a.tamis >stream
test "$(wc -c <stream)" -gt 500000
cat stream | tamis receive -q b.tamis
cmp a.tamis b.tamis
cat stream | tamis receive -q b.tamis --memory 8MiB
cmp a.tamis b.tamis
nm "$TAMIS_BUILD/tamis" | grep -q __asan || ulimit -v 200000
cat stream /dev/zero | code_of timeout 60 tamis receive b.tamis
cat stream stream | code_of tamis receive b.tamis
# A header can say any length. With --memory, not all of it is read.
cat stream | code_of timeout 20 tamis receive b.tamis --memory 64KiB
# Streams of exactly the length of the buffer, where it would be doubled.
for n in 262144 262145 524288; do
    head -c $n stream | code_of tamis receive b.tamis
done
cmp a.tamis b.tamis
