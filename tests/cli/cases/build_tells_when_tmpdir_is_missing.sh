. "$CLI_TESTS/helpers.sh"
seq 10 | TMPDIR=/nowhere code_of tamis build set.tamis
seq 10 | TMPDIR=/dev/null code_of tamis build set.tamis
seq 10 | TMPDIR= code_of tamis build -q set.tamis # as if it were not set
seq 10 | TMPDIR=/nowhere code_of tamis build -q set.tamis -n 10
