. "$CLI_TESTS/helpers.sh"
seq 1000 >keys
tamis build -q a.tamis -n 1000 --remove --kind rank keys
tamis send -q --no-copies a.tamis >stream
code_of tamis receive b.tamis --remove <stream
code_of tamis receive b.tamis --count <stream
code_of tamis receive b.tamis --like a.tamis <stream
test ! -e b.tamis
code_of tamis receive -q b.tamis <stream
seq 100000 | tamis has a.tamis >expected
seq 100000 | tamis has b.tamis | cmp - expected
code_of tamis remove b.tamis keys
