# The pipe is never closed; -q ends at the first line that is in the set.
. "$CLI_TESTS/helpers.sh"
echo apple | tamis build -q fruit.tamis -e 1e-9
mkfifo pipe
sleep 100 >pipe &
keeper=$!
(printf 'stone\napple\n' >pipe) &
code_of timeout 20 tamis has -q fruit.tamis pipe
kill "$keeper"
