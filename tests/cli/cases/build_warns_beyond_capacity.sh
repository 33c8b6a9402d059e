# A Bloom filter never refuses; it gets worse. The keys are in, so the file is saved; but what was
# promised does not hold, so that is said, even with --quiet, and the exit code is 1.
. "$CLI_TESTS/helpers.sh"
seq 1000 | code_of tamis build --kind bloom -q set.tamis -n 100 --seed 1
seq 1000 | tamis has -c set.tamis
seq 100 | code_of tamis build --kind bloom -q set.tamis -n 100 --seed 1
seq 101 1000 | code_of tamis add set.tamis
tamis build --kind counting -q copies.tamis -n 100 --seed 1 </dev/null
for copy in 1 2 3 4; do seq 50; done | code_of tamis add copies.tamis # many copies are no overload
