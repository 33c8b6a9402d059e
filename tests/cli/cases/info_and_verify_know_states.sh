. "$CLI_TESTS/helpers.sh"
make_states jobs.tamis
tamis info jobs.tamis
tamis info --json jobs.tamis | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["holds"], found["values"], found["timeout"], found["keys"], found["keys_by_value"], found["conflicts"])'
code_of tamis verify jobs.tamis
tamis verify --json jobs.tamis | grep -c '"holds": "states"'
damage jobs.tamis 5000
code_of tamis verify jobs.tamis
code_of tamis info jobs.tamis
for golden in "$TAMIS_SOURCE"/tests/golden/v1-states-*.tamis; do
    tamis info "$golden" | grep -q '^  holds  *states: '
    tamis verify -q "$golden"
done
