. "$CLI_TESTS/helpers.sh"
# Only -n auto, and kinds that cannot grow, keep a copy of lines from a pipe.
seq 10 | TMPDIR=/nowhere code_of tamis build set.tamis -n auto
seq 10 | TMPDIR=/dev/null code_of tamis build set.tamis --kind bloom
seq 10 | TMPDIR= code_of tamis build -q set.tamis -n auto # as if it were not set
seq 10 | TMPDIR=/nowhere code_of tamis build -q set.tamis -n 10
seq 10 | TMPDIR=/nowhere code_of tamis build -q set.tamis
