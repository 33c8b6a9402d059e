# How much memory is needed, where there is not enough.
. "$CLI_TESTS/helpers.sh"
if nm "$TAMIS_BUILD/tamis" | grep -q __asan; then skip 'AddressSanitizer needs more address space'; fi
seq 10 | tamis build -q set.tamis -n 30M -e 1%
ulimit -v 30000
code_of tamis build new.tamis -n 30M -e 1% </dev/null
code_of tamis add set.tamis </dev/null
test ! -e new.tamis
code_of tamis build new.tamis -n 900G --kind bloom </dev/null
