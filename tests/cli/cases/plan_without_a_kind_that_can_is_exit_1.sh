. "$CLI_TESTS/helpers.sh"
code_of tamis plan -n 1000 --geometry nonsense=1 >out
tail -n 1 out
fails grep -q '^\*' out
code_of tamis plan -n 1000 --geometry nonsense=1 --code
code_of tamis plan -n 1000 --geometry nonsense=1 --json | tail -n 1
