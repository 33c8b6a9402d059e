. "$CLI_TESTS/helpers.sh"
seq 10 | tamis build -q a.tamis -n 100 --kind counting --seed 1
seq 5 20 | tamis build -q b.tamis --like a.tamis
seq 10 | tamis build -q kind.tamis -n 100 --kind vicbf --seed 1
seq 10 | tamis build -q size.tamis -n 1000 --kind counting --seed 1
seq 10 | tamis build -q seed.tamis -n 100 --kind counting --seed 2
cp a.tamis before
for other in b kind size seed; do code_of tamis subtract a.tamis a.tamis $other.tamis; done
cmp a.tamis before
seq 10 | tamis build -q bloom.tamis -n 100 --kind bloom
seq 10 | tamis build -q other.tamis --like bloom.tamis
code_of tamis subtract bloom.tamis bloom.tamis other.tamis
code_of tamis subtract out.tamis a.tamis
