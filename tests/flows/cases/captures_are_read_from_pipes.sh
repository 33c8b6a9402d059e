tamis-make-capture mixed made connections=200 >/dev/null
tamis-flows tcp --json --seed 1 made | sed 's/,"speed":.*//' >named
for format in micro ng; do
    tamis-make-capture mixed made connections=200 format=$format >/dev/null
    cat made | tamis-flows tcp --json --seed 1 - | sed 's/,"speed":.*//' >piped
    diff named piped
done
