. "$CLI_TESTS/helpers.sh"
seq 100 | tamis build set.tamis -n 1000 -e 1e-9 --kind counting --seed 1
seq 101 200 | tamis add set.tamis
echo 201 | tamis add set.tamis
seq 300 | tamis has -c set.tamis
cp set.tamis before
tamis add set.tamis </dev/null
cmp set.tamis before
seq 5 | tamis add --quiet set.tamis
