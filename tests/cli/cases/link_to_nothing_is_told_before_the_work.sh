# A save follows links. One that leads nowhere is an error before the lines are read and printed, not after it.
. "$CLI_TESTS/helpers.sh"
seq 10 >keys
ln -s nowhere link
code_of tamis dedup --set link keys
code_of tamis build -q link keys
code_of tamis merge link keys keys
mkfifo pipe
code_of tamis has pipe keys
code_of tamis info pipe
ls
