# Two full sets of a kind that never refuses make one that is wrong too often.
. "$CLI_TESTS/helpers.sh"
seq 1000 | tamis build -q one.tamis -n 1000 --kind bloom --seed 5
seq 1001 2000 | tamis build -q two.tamis --like one.tamis
code_of tamis merge both.tamis one.tamis two.tamis
code_of tamis merge -q both.tamis one.tamis two.tamis
printf 'a\na\nb\n' | tamis dedup -n 10 --count
