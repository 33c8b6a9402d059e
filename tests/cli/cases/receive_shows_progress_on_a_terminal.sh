# Bytes and their rate, after a second.
. "$CLI_TESTS/helpers.sh"
"$CLI_TESTS/on-terminal" 3 tamis receive got.tamis >seen || true
sed 's/[0-9.]* [A-Za-z]*\/s/RATE/' seen
seq 100000 | tamis build -n auto -q set.tamis --kind rank -e 1e-6 --seed 1
"$CLI_TESTS/on-terminal" 3 tamis send set.tamis >seen
sed 's/EL>[0-9.]* [A-Za-z]*, [0-9.]* [A-Za-z]*\/s/EL>SIZE, RATE/' seen
