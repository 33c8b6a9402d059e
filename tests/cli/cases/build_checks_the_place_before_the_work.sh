# The pipe never ends, so the check must come first.
. "$CLI_TESTS/helpers.sh"
mkfifo pipe
sleep 100 >pipe &
keeper=$!
mkdir folder
code_of timeout 20 tamis build missing/set.tamis pipe
code_of timeout 20 tamis build folder pipe
code_of timeout 20 tamis build /dev/null pipe
kill "$keeper"
ls
