. "$CLI_TESTS/helpers.sh"
{ seq 200000; seq 200000; } | tamis dedup -e 1e-9 >out
seq 200000 | cmp - out
[ "$({ seq 200000; seq 200000; } | tamis dedup -c)" -gt 199800 ]
# a bound of its own; beyond it, a warning names the option
seq 50000 | code_of tamis dedup -n 2000 --grow-to 20k --seed 1 --threads 1 | tail -n 1
seq 10 | code_of tamis dedup -q --set seen.tamis --grow-to 20k -c
seq 10 | code_of tamis dedup -q --set seen.tamis --grow-to 20k -c
seq 10 | code_of tamis dedup -q --set seen.tamis --grow-to 1M -c
