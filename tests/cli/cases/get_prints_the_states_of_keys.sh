. "$CLI_TESTS/helpers.sh"
make_states jobs.tamis
printf 'idle\nrunning\nnobody\n\n' | code_of tamis get jobs.tamis
printf 'nobody\0' | code_of tamis get -0 jobs.tamis | tr '\0' '!'
echo
echo running >keys
code_of tamis get --trust jobs.tamis keys keys
code_of tamis get --read jobs.tamis keys
# a table whose cells are shared and crowded does not always know
make_states crowded.tamis crowded
seq 3000 | tamis get crowded.tamis | cut -f2 | sort | uniq -c | awk '{ $1 = $1 > 0; print }' | sed 's/ [01]$/ a value/' | sort -u
# a set has no states, and states are no set
tamis build -q set.tamis keys
code_of tamis get set.tamis keys
code_of tamis has jobs.tamis keys
code_of tamis add jobs.tamis keys
code_of tamis get keys keys
code_of tamis get missing.tamis keys
