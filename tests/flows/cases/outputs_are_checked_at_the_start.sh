# Files that are written later: what cannot work is said at the start. Rotation counts what is in a file already, and
# the flow log has it, too.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=300 seed=7 >/dev/null
mkdir folder
code_of tamis-flows tcp -q --state folder made
code_of tamis-flows tcp -q --metrics folder made
code_of tamis-flows tcp -q --metrics no/such.prom made
code_of tamis-flows tcp -q --state /no/such/state made
code_of tamis-flows tcp -q --rotate 1M made
ls folder
# A pipe or a device would be replaced, or renamed. Nobody opens the pipe: opening would wait.
mkfifo pipe
code_of timeout 20 tamis-flows tcp -q --metrics pipe made
code_of timeout 20 tamis-flows tcp -q --rotate 1M --log pipe made
code_of timeout 20 tamis-flows tcp -q --rotate 1M -o pipe made
test -p pipe && test ! -e pipe.1
# A file of somebody else would be replaced.
echo mine >notes
code_of tamis-flows tcp -q --metrics notes made
code_of tamis-flows tcp -q --state notes made
cat notes
# One file for two outputs, and a capture as an output.
code_of tamis-flows tcp -q -o one --log one made
code_of tamis-flows tcp -q --metrics one --state one made
code_of tamis-flows tcp -q -o made made
test ! -e one
# The same by other names.
cp made before
ln -s made link
ln made twin
for name in ./made folder/../made link twin "$PWD/made"; do
    code_of tamis-flows tcp -q --json -o "$name" made 2>/dev/null
    code_of tamis-flows tcp -q --log made "$name" 2>/dev/null
    code_of tamis-flows tcp -q --log "$name" - <made 2>/dev/null
    cmp made before
done
code_of tamis-flows tcp -q --metrics one --state ./one made
code_of tamis-flows tcp -q --json -o folder/one --log "$PWD/folder/one" made
test ! -e one && test ! -e folder/one
tamis-flows tcp -q -o /dev/null --log folder/../one made && rm one
# Old parts of a file would replace another file.
cp made r.3
code_of tamis-flows tcp -q --rotate 1k --keep 3 -o r r.3
code_of tamis-flows tcp -q --rotate 1k --log r ./r.3
code_of tamis-flows tcp -q --rotate 1k --log r --state r.9 made
code_of tamis-flows tcp -q --rotate 1k -o r --metrics folder/../r.1 made
cmp made r.3 && rm r.3 && test "$(ls r* 2>/dev/null)" = ""
tamis-flows tcp -q --rotate 1G --keep 3 -o r --metrics r.4 made && rm r r.4
# The file is full before the first line, and so it is moved.
head -c 12000 /dev/zero | tr '\0' '\n' >out
tamis-flows tcp --json --seed 1 --rotate 11k --keep 100 -o out made
cat $(ls out.* | sort -t. -k2 -nr) out | sed -n '1p; 12001p' | cut -c 1-18
test "$(wc -c <"$(ls out.* | sort -t. -k2 -n | tail -n 1)")" -lt 20000 || ls -l
# All lines of the log are in its parts, each of which has the names of the columns.
tamis-flows tcp -q --seed 1 --log whole made
tamis-flows tcp -q --seed 1 --log log --rotate 10k --keep 50 made
for part in $(ls log.* | sort -t. -k2 -nr) log; do
    head -n 1 $part | cut -c 1-5
    sed 1d $part >>all
done | uniq
sed 1d whole | cmp - all
test "$(ls log.* | wc -l)" -ge 2 || ls -l
# From an interface, as another user.
unshare -n true 2>/dev/null || skip "cannot make a network namespace"
chmod 755 .
as_nobody() {
    unshare -n sh -c 'ip link set lo up; exec timeout -s INT 20 tamis-flows tcp -q -i lo --user nobody "$@"' nobody "$@" 2>why && code=0 || code=$?
    sed "s#$PWD#HERE#g" why
    echo "exit $code"
}
as_nobody --metrics "$PWD/flows.prom"
as_nobody --state "$PWD/flows.state"
as_nobody -o "$PWD/rotated" --rotate 1M
# A file that is there can be written, but not opened again.
as_warned() {
    unshare -n sh -c '. "$CLI_TESTS/helpers.sh"; ip link set lo up; tamis-flows tcp -q -i lo --user nobody "$@" & watcher=$!
        wait_for is_capturing $watcher; kill -INT $watcher; wait $watcher' nobody "$@" 2>why
    sed "s#$PWD#HERE#g" why
}
as_warned -o "$PWD/mine"
chmod 666 mine
as_warned -o "$PWD/mine"
