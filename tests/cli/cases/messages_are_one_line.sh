# Whatever a file is called: control bytes are spelt out, and do nothing to a terminal.
. "$CLI_TESTS/helpers.sh"
name=$(printf 'two\nlines\033[31m\177')
seq 10 | tamis build "$name" -n 10 --kind counting --seed 1
seq 10 | tamis add "$name"
code_of tamis has set.tamis "$name.keys" 2>&1 | cat -v
code_of tamis has "$name" "$name.keys"
code_of tamis add "$name.missing"
tamis verify "$name"
tamis info "$name" | head -n 1
tamis verify --json "$name" | sed -n 2p
long=$(printf '%0200d' 0)/$(printf '%0200d' 0)/$(printf '%0200d' 0)
code_of tamis build "$long/set.tamis" </dev/null
