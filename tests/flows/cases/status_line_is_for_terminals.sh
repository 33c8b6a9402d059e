# A pipe that stays open: after a second, the line says what came so far.
tamis-make-capture mixed made connections=100 >/dev/null
python3 "$CLI_TESTS/on-terminal" 0 sh -c '(cat made; sleep 1.5; tail -c +25 made) | tamis-flows tcp --json -' |
    tr '<' '\n' | grep -c 'packets, .*/s, .* flows now'
python3 "$CLI_TESTS/on-terminal" 0 sh -c '(cat made; sleep 1.5; tail -c +25 made) | tamis-flows tcp --json -q -'
