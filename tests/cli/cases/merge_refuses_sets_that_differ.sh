. "$CLI_TESTS/helpers.sh"
seq 10 | tamis build -q a.tamis -n 100 --kind bloom --seed 1
seq 10 | tamis build -q kind.tamis -n 100 --kind counting --seed 1
seq 10 | tamis build -q size.tamis -n 1000 --kind bloom --seed 1
seq 10 | tamis build -q seed.tamis -n 100 --kind bloom --seed 2
cp a.tamis before
for other in kind size seed; do code_of tamis merge a.tamis a.tamis $other.tamis; done
cmp a.tamis before
