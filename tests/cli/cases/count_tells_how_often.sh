. "$CLI_TESTS/helpers.sh"
{ seq 3; seq 2; echo 1; seq 5 7; } | tamis build -q set.tamis -n 100 -e 1e-9 --kind counting
seq 5 | code_of tamis count set.tamis
for copy in $(seq 20); do echo 7; done | tamis add -q set.tamis
printf '7' | tamis count set.tamis
echo 7 | code_of tamis remove -q set.tamis
echo 7 | tamis count --trust set.tamis
tamis count set.tamis </dev/null
seq 10 | tamis build -q bloom.tamis --kind bloom
seq 10 | code_of tamis count bloom.tamis
