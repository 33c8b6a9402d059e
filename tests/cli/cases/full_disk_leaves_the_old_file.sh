# A small disk of our own, which fills up.
. "$CLI_TESTS/helpers.sh"
if [ "${1:-}" != inside ]; then
    unshare -rm true 2>/dev/null || skip 'mounting is not allowed here'
    exec unshare -rm sh -eu "$CLI_TESTS/cases/full_disk_leaves_the_old_file.sh" inside
fi
mkdir disk
mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null || skip 'mounting is not allowed here'
seq 1000 >keys
tamis build -q disk/set.tamis -n 10k --kind counting keys
cp disk/set.tamis before
code_of tamis build disk/set.tamis -n 1M --kind counting keys
code_of tamis build disk/new.tamis -n 1M --kind counting keys
seq 100000 | TMPDIR=disk code_of tamis build new.tamis -n auto # which keeps a copy of the lines
cat /dev/zero >disk/zeros 2>/dev/null || true
code_of tamis add disk/set.tamis keys
code_of tamis remove disk/set.tamis keys
code_of tamis merge disk/set.tamis disk/set.tamis disk/set.tamis
cmp disk/set.tamis before
ls -A disk
