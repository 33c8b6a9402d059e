. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=3000 >/dev/null
code_of tamis-flows tcp --flows 500 --seed 1 made >out
tail -n 1 out
grep -c 'no room' out
code_of tamis-flows tcp --flows 500 --json --seed 1 made | tail -n 1
