# stderr is a closed pipe: the work is done all the same.
. "$CLI_TESTS/helpers.sh"
seq 10 | tamis build -q set.tamis -n 100 -e 1e-9
echo apple >keys
{ sleep 0.2; code=0; tamis add set.tamis keys || code=$?; echo "exit $code" >code; } 2>&1 | true
wait_for test -s code
cat code
echo apple | tamis has set.tamis
