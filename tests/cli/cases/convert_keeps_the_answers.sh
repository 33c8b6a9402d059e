. "$CLI_TESTS/helpers.sh"
seq 1000 | tamis build -q counting.tamis --kind counting -e 1%
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
