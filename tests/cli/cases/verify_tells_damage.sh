. "$CLI_TESTS/helpers.sh"
seq 10000 | tamis build -q good.tamis --kind counting
code_of tamis verify good.tamis
code_of tamis verify -q good.tamis
for place in 0 9 40 200 4090 5000 20000; do
    cp good.tamis bad.tamis
    damage bad.tamis "$place"
    code_of tamis verify bad.tamis
done
size=$(wc -c <good.tamis)
for cut in 0 100 4096 5000 $((size - 1)); do
    head -c "$cut" good.tamis >bad.tamis
    code_of tamis verify bad.tamis
done
{ cat good.tamis; echo; } >bad.tamis
code_of tamis verify bad.tamis good.tamis
code_of tamis verify missing.tamis .
code_of tamis verify --json good.tamis bad.tamis
