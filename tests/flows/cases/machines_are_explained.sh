# check explains every built-in machine, and draws it: Graphviz reads what it writes, and each state is there.
. "$CLI_TESTS/helpers.sh"
tamis-flows check dns
for machine in $(tamis-flows machines | cut -d' ' -f1); do
    tamis-flows check $machine >text
    tamis-flows check $machine --dot >graph
    tamis-flows check --dot $machine | cmp - graph
    for state in $(tamis-flows show $machine | sed -n 's/^state  *\([a-z-]*\) .*/\1/p'); do
        grep -q "a flow in $state\$" text || echo "$machine: $state is not explained"
        grep -q "label=\"$state" graph || echo "$machine: $state is not drawn"
    done
    if command -v dot >/dev/null; then dot -Tsvg graph >picture || echo "$machine: bad graph"; fi
done
command -v dot >/dev/null || echo "no Graphviz here: graphs were not read" >&2
printf 'machine m\nover udp\nstate a timeout 1s\nfrom new when syn go a\n' >bad.machine
code_of tamis-flows check bad.machine
code_of tamis-flows check
code_of tamis-flows check tcp --svg
