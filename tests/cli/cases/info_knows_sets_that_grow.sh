# Stage, end and cost; also in the middle of a step, which begins at 15/16 of the capacity.
. "$CLI_TESTS/helpers.sh"
growth() { tamis info "$1" | grep -A1 -e '^  growth' | grep -v fpr; }
tamis build -q set.tamis -n 10k --grow-to 1M --seed 1 </dev/null
growth set.tamis
capacity=$(tamis info --json set.tamis | python3 -c 'import json, sys; print(json.load(sys.stdin)["capacity"])')
# one thread: several threads share the set, and look only now and then how full it is
seq $((capacity - capacity / 32)) | tamis add -q --threads 1 set.tamis
growth set.tamis
tamis info set.tamis | grep '^  size'
tamis info --json set.tamis | grep -e is_growing -e grow_to -e '"stage'
tamis verify set.tamis
seq $((capacity - capacity / 32)) | tamis has -v -c set.tamis || true
seq 900000 | tamis add -q set.tamis
growth set.tamis
# the cost of four doublings does not depend on what else the set can do
for options in '' --remove '--remove --copies 3' --count --count-to=1000; do
    # shellcheck disable=SC2086 # a list of words
    tamis build -q can.tamis -n 100k --grow-to 1600k $options </dev/null
    growth can.tamis | grep -o 'costs .*'
done
tamis build -q fixed.tamis -n 1000 </dev/null
growth fixed.tamis || echo 'no growth'
