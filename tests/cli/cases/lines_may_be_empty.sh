# An empty line is a key; no lines at all are no key.
. "$CLI_TESTS/helpers.sh"
printf '\n' | tamis build empty-line.tamis -n 10 --kind bloom --seed 1
printf '' | tamis build nothing.tamis -n 10 --kind bloom --seed 1
printf '\na\n' | code_of tamis has empty-line.tamis
printf '\na\n' | code_of tamis has nothing.tamis
