# Copies beyond those that were planned for need room of their own. The message names the option, and it helps.
. "$CLI_TESTS/helpers.sh"
awk 'BEGIN { for (key = 1; key <= 5000; key++) for (copy = 0; copy <= key % 4; copy++) print key }' >keys
code_of tamis build set.tamis -n 5000 -e 1% --kind ddlcbf --count-to 12 --seed 1 keys
test ! -e set.tamis
tamis build -q set.tamis -n 5000 -e 1% --kind ddlcbf --count-to 12 --copies 4 --seed 1 keys
tamis has -c set.tamis keys
# where four copies were planned for, it names eight; where copies take no room, or no key has any, none
seq 5000 | sed p | code_of tamis build four.tamis -n 500 -e 1% --kind line --remove --copies 4 --seed 1 --threads 1
seq 5000 | code_of tamis build grown.tamis --grow-to 2000 -e 1% --remove --seed 1 --threads 1
seq 5000 | code_of tamis build once.tamis -n 100 -e 1% --kind dlbf --seed 1
