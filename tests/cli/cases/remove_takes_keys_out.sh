. "$CLI_TESTS/helpers.sh"
seq 100 | tamis build -q set.tamis -n 1000 -e 1e-9 --remove
seq 20 | code_of tamis remove set.tamis
seq 100 | tamis has -c set.tamis
seq 11 30 | code_of tamis remove set.tamis
seq 100 | tamis has set.tamis | head -n 1
tamis info set.tamis | grep removals
seq 100 | tamis build -q one.tamis -e 1e-9 --kind counting
echo 101 | code_of tamis remove one.tamis
tamis info one.tamis | grep removals
printf '50\n50\n' | tamis add -q set.tamis
printf '50\n50\n50\n50\n' | code_of tamis remove set.tamis
code_of tamis remove set.tamis </dev/null
echo 99 | code_of tamis remove -q set.tamis
echo 99 | code_of tamis remove -q set.tamis
seq 10 | tamis build -q bloom.tamis --kind bloom
seq 10 | code_of tamis remove bloom.tamis
seq 10 | tamis build -q minimal.tamis --kind counting --geometry minimal=1
seq 10 | code_of tamis remove minimal.tamis
