. "$CLI_TESTS/helpers.sh"
seq 1000 | tamis build -q a.tamis -n 2000 --kind bloom --seed 0x1234
seq 1000 | tamis build -q b.tamis -n 1000 --kind counting --seed 7 --lifetime 10k
tamis info a.tamis b.tamis
for copy in 1 2; do seq 1000; done | tamis build -q c.tamis -n 1000 --copies 2 --kind counting
tamis info c.tamis | grep -o '^  copies.*\|made for .*'
code_of tamis info a.tamis missing.tamis 2>&1 | tail -n 2
yes a | head -n 5 | tamis build -q one.tamis --remove -n 100 --kind line
tamis info one.tamis | grep -o "by .*"
