# After a second of work: keys and rate, and how much is left if that is known; taken away at the
# end, before the report.
printf 'a\n' | tamis build -q set.tamis -n 100 --kind bloom
"$CLI_TESTS/on-terminal" 1.3 tamis add set.tamis >seen
sed 's/[0-9.]*\/s/RATE/' seen
"$CLI_TESTS/on-terminal" 0.1 tamis add set.tamis
seq 200000 >keys
tamis build -q set.tamis --kind bloom keys
"$CLI_TESTS/on-terminal" 1.3 tamis has set.tamis keys >seen
sed 's/[0-9.]*k keys, [0-9.]*k\/s, [0-9]*%, [0-9]* s left/N keys, RATE, PERCENT, SECONDS left/' seen
