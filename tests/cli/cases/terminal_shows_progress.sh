# After a second of work: keys and rate, and how much is left if that is known; taken away at the
# end, before the report. Three seconds: a busy machine may start the tool late.
printf 'a\n' | tamis build -q set.tamis -n 100 --kind bloom
"$CLI_TESTS/on-terminal" 3 tamis add set.tamis >seen
sed 's/[0-9.]*\/s/RATE/' seen
# Less than a second of work shows nothing, unless the machine stood still meanwhile.
"$CLI_TESTS/on-terminal" 0.1 tamis add set.tamis >seen
sed 's/^<CR><EL>2 keys, [0-9.]*\/s<CR><EL>//' seen
seq 200000 >keys
tamis build -q set.tamis --kind bloom keys
"$CLI_TESTS/on-terminal" 3 tamis has set.tamis keys >seen
sed 's/[0-9.]*k keys, [0-9.]*k\/s, [0-9]*%, [0-9]* s left/N keys, RATE, PERCENT, SECONDS left/' seen
