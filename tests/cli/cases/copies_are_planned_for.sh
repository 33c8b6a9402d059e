# -n counts different keys; --copies says how often each may come. Then all lines fit, whatever else is asked for.
. "$CLI_TESTS/helpers.sh"
n=20000
for copies in 2 5; do
    for _ in $(seq "$copies"); do seq "$n"; done >lines
    for options in --remove --count '--remove --small' '--count --small'; do
        # shellcheck disable=SC2086 # a list of words
        tamis build -q set.tamis -n "$n" -e 1% --copies "$copies" $options lines
        echo "$copies copies, $options: $(tamis has -c set.tamis lines) of $(wc -l <lines)"
        # every copy can be removed again, and then nothing is left
        tamis remove -q set.tamis lines
        tamis info --json set.tamis | python3 -c 'import json, sys; print("keys left:", json.load(sys.stdin)["keys"])'
    done
done
