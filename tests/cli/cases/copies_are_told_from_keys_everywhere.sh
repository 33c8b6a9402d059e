# Whatever prints how many keys a set holds says copies where they are copies.
. "$CLI_TESTS/helpers.sh"
for copy in 1 2 3; do seq 1000; done >keys
tamis build set.tamis -n 1500 --copies 3 --remove --kind counting --seed 1 keys
tamis verify set.tamis
seq 1 | tamis add set.tamis
seq 1 | tamis remove set.tamis
# dedup counts different lines: a thousand are there, so that two hundred more fit
seq 801 1200 | code_of tamis dedup --set set.tamis -c
tamis verify --json set.tamis | grep keys
# a few copies among a hundred keys are noticed, where the set knows its fingerprints
for kind in line rank; do
    { seq 100; yes apple | head -n 20; } | tamis build -q few.tamis -n 1000 --remove --kind $kind --seed 1
    seq 1 | tamis remove few.tamis
done
