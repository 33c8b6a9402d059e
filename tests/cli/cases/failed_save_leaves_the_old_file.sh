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
tamis build -q rank.tamis -n 20k --kind rank keys
tamis send -q rank.tamis >stream
rm rank.tamis
(ulimit -f 8 && code_of tamis receive set.tamis stream)
(ulimit -f 8 && code_of tamis receive new.tamis stream)
cmp set.tamis before
ls -A
