# Files that cannot be written: the reason is reported once, the rest of the run goes on, and the exit code says it.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=2000 seed=7 >/dev/null
test -c /dev/full || skip "no /dev/full here"
code_of tamis-flows tcp --seed 1 --log /dev/full made >out
grep -c '^  flows ' out
tail -n 1 out
code_of tamis-flows tcp -o /dev/full made
unshare -m true 2>/dev/null || skip "cannot mount a file system"
cat >inside.sh <<'END'
. "$CLI_TESTS/helpers.sh"
mkdir small
mount -t tmpfs -o size=64k none small
head -c 65536 /dev/zero >small/fill || true
code_of tamis-flows tcp -q --metrics small/flows.prom made
code_of tamis-flows tcp -q --state small/flows.state made
ls small
# Lines come again when there is room.
mkfifo packets
tamis-flows tcp -q --seed 1 --log small/log - <packets 2>why & reader=$!
exec 3>packets
size=$(wc -c <made)
head -c $((size / 2)) made >&3
wait_for grep -q 'lines are lost' why
rm small/fill
tail -c +$((size / 2 + 1)) made >&3
wait_for test -s small/log
exec 3>&-
wait $reader && code=0 || code=$?
echo "exit $code"
cut -d';' -f1 why
END
unshare -m sh inside.sh
