# '-' is a stream of keys; a set is a file, with a name.
. "$CLI_TESTS/helpers.sh"
seq 10 >keys
tamis build -q set.tamis keys
for command in build add has remove count info verify send receive; do code_of tamis "$command" - <keys; done
code_of tamis merge - set.tamis set.tamis
code_of tamis merge out.tamis set.tamis -
code_of tamis convert - out.tamis --kind bloom
code_of tamis build ''
code_of tamis has '' keys
code_of tamis info set.tamis ''
code_of tamis build -q ./- keys
tamis has -c ./- keys
ls
