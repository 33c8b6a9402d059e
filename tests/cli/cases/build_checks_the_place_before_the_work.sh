# The pipe never ends, so the check must come first.
. "$CLI_TESTS/helpers.sh"
mkfifo pipe
sleep 100 >pipe &
keeper=$!
mkdir folder
mknod device c 1 3 2>/dev/null || mkfifo device # our own: as root, /dev/null could be replaced
code_of timeout 20 tamis build missing/set.tamis pipe
code_of timeout 20 tamis build folder pipe
code_of timeout 20 tamis build device pipe
kill "$keeper"
ls
