# A file of states is as precious as any other file: no command replaces it without --force.
. "$CLI_TESTS/helpers.sh"
cp "$TAMIS_SOURCE/tests/golden/v1-states-rank.tamis" states.tamis
cp states.tamis before
seq 10 >keys
tamis build -q a.tamis -n 100 --remove --merge --kind line keys
tamis build -q counting.tamis -n 100 --kind counting keys
tamis send -q a.tamis >stream
code_of tamis build states.tamis keys
code_of tamis merge states.tamis a.tamis a.tamis
code_of tamis subtract states.tamis a.tamis a.tamis
code_of tamis convert counting.tamis states.tamis --kind bloom
code_of tamis receive states.tamis stream
cmp states.tamis before
code_of tamis build -q --force states.tamis keys
tamis has -c states.tamis keys
