. "$CLI_TESTS/helpers.sh"
# 300 bytes describe an empty set of more than a megabyte
tamis build -q a.tamis -n 1M -e 1% --remove --seed 1 </dev/null
tamis send -q a.tamis >stream
test "$(wc -c <stream)" -lt 400
code_of tamis receive b.tamis --memory 64KiB stream
test ! -e b.tamis
tamis receive -q b.tamis --memory 16MiB stream
tamis info b.tamis | grep -q "1,000,000"
