# 141 is 128 + SIGPIPE. Not even a message.
. "$CLI_TESTS/helpers.sh"
seq 300000 >keys
tamis build -q set.tamis -n 300k --kind counting keys
{ code=0; tamis has set.tamis keys || code=$?; echo "has $code" >codes; } | head -n 1
{ code=0; tamis count set.tamis keys || code=$?; echo "count $code" >>codes; } | head -n 1
{ code=0; tamis dedup -n 300k keys || code=$?; echo "dedup $code" >>codes; } | head -n 1
tamis build -q rank.tamis -n 300k -e 1e-9 --kind rank keys
{ code=0; tamis send rank.tamis || code=$?; echo "send $code" >>codes; } | head -c 4 | tail -c 3
echo
{ sleep 0.2; code=0; tamis help || code=$?; echo "help $code" >>codes; } | true
wait_for test "$(wc -l <codes)" = 5
cat codes
