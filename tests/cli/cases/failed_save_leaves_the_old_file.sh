# A limit on the size of files is a disk that is full after 8 KiB.
. "$CLI_TESTS/helpers.sh"
seq 20000 >keys
tamis build -q set.tamis -n 20k --kind counting keys
cp set.tamis before
(ulimit -f 8 && code_of tamis add set.tamis keys)
(ulimit -f 8 && code_of tamis remove set.tamis keys)
(ulimit -f 8 && code_of tamis build set.tamis keys)
(ulimit -f 8 && code_of tamis build new.tamis keys)
(ulimit -f 8 && code_of tamis merge set.tamis set.tamis set.tamis)
cmp set.tamis before
ls -A
