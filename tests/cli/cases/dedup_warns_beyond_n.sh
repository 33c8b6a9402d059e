. "$CLI_TESTS/helpers.sh"
seq 5000 | code_of tamis dedup -n 1000 --kind bloom --seed 1 >out
tail -n 1 out
seq 1000 | tamis dedup -n 1000 --kind bloom --seed 1 -e 1e-9 | wc -l
test "$(wc -l <out)" -lt 5000 # beyond -n, lines are lost; that is what the warning is about
