# The pipe stays open. After a second, the progress line shows what was read so far.
tamis-make-capture mixed made connections=100 >/dev/null
python3 "$CLI_TESTS/on-terminal" 0 sh -c '(cat made; sleep 1.5; tail -c +25 made) | tamis-flows tcp --json -' |
    tr '<' '\n' | grep 'packets, .*/s, .* flows now' | head -n 1 | wc -l # a busy machine may take longer, and show more
python3 "$CLI_TESTS/on-terminal" 0 sh -c '(cat made; sleep 1.5; tail -c +25 made) | tamis-flows tcp --json -q -'
# The rate is the current one: many packets, then one after a pause, and another one.
tamis-make-capture mixed many connections=2000 >/dev/null
tail -c +25 made | head -c $((16 + $(od -An -tu4 -j32 -N4 made))) >one
python3 "$CLI_TESTS/on-terminal" 0 sh -c '(cat many; sleep 1.5; cat one; sleep 1; cat one) | tamis-flows tcp --json -' |
    tr '\r<' '\n\n' | grep -o 'packets, .*/s, .* flows now' | tail -n 1 | grep -c 'packets, [0-9.]*/s'
