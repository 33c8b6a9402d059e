. "$CLI_TESTS/helpers.sh"
seq 1000 | tamis build -q counting.tamis --kind counting -e 1% --seed 1
tamis convert counting.tamis bloom.tamis --kind bloom
seq 100000 | tamis has counting.tamis >expected
seq 100000 | tamis has bloom.tamis | cmp - expected
tamis info bloom.tamis | grep kind
test "$(wc -c <bloom.tamis)" -lt "$(wc -c <counting.tamis)"
code_of tamis convert bloom.tamis counting.tamis --kind counting
code_of tamis convert bloom.tamis again.tamis --kind bloom
code_of tamis convert counting.tamis again.tamis
code_of tamis convert bloom.tamis again.tamis
code_of tamis convert -q counting.tamis again.tamis --kind bloom
cmp again.tamis bloom.tamis
code_of tamis convert missing.tamis out.tamis --kind bloom
seq 1000 | tamis has -c counting.tamis
# where convert has no way, its advice is one that works
tamis build -q line.tamis -n 1000 --remove --kind line < /dev/null
code_of tamis convert line.tamis rank.tamis --kind rank
tamis send -q line.tamis | tamis receive -q rank.tamis --kind rank
tamis info rank.tamis | grep -c 'kind  *rank'
code_of tamis convert line.tamis again.tamis
code_of tamis convert line.tamis again.tamis --kind bloom
