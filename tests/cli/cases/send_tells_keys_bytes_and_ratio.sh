. "$CLI_TESTS/helpers.sh"
seq 10000 >keys
tamis build -q set.tamis -n 10k -e 1% --remove --kind rank --seed 1 keys
tamis send set.tamis >stream
test "$(wc -c <stream)" -lt 12500 # 10 bits per key
tamis send --no-copies set.tamis >less
test "$(wc -c <less)" -lt "$(wc -c <stream)"
tamis receive got.tamis stream
tamis receive - <stream 2>&1 | cat
tamis receive got.tamis - <stream
tamis build -q empty.tamis -n 10k -e 1% --remove --kind rank --seed 1 </dev/null
tamis send empty.tamis | tamis receive got.tamis
tamis send -q set.tamis | tamis receive -q got.tamis
# copies are not taken for keys: bits are counted per key
seq 10000 | cat - keys | tamis build -q twice.tamis --remove -e 1% -n auto --seed 1
tamis send twice.tamis | tamis receive got.tamis
