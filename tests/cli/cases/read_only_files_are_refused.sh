# A rename does not need the right to write to a file; tamis asks for it all the same. Before the work, not after it.
. "$CLI_TESTS/helpers.sh"
seq 10 >keys
tamis build -q set.tamis -n 100 --remove --merge keys
tamis send -q set.tamis >stream
chmod 444 set.tamis
cp set.tamis before
code_of tamis add set.tamis keys
code_of tamis remove set.tamis keys
code_of tamis build set.tamis keys
code_of tamis build --force set.tamis keys
code_of tamis merge set.tamis set.tamis set.tamis
code_of tamis receive set.tamis stream
cmp set.tamis before
tamis has -c set.tamis keys
