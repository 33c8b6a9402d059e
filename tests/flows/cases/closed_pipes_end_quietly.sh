# Exit code 141 is 128 + SIGPIPE. There is no message.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=20000 >/dev/null
{ code=0; tamis-flows tcp --json made || code=$?; echo "json $code" >codes; } | head -n 1 | cut -c 1-10
wait_for test -s codes
cat codes
