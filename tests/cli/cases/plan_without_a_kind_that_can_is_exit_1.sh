. "$CLI_TESTS/helpers.sh"
code_of tamis plan -n 1000 --kind bloom --remove >out
tail -n 1 out
fails grep -q '^\*' out
code_of tamis plan -n 1000 --kind bloom --remove --code
code_of tamis plan -n 1000 --kind bloom --remove --json | tail -n 1
