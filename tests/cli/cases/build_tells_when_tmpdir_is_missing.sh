. "$CLI_TESTS/helpers.sh"
seq 10 | TMPDIR=/nowhere code_of tamis build set.tamis
