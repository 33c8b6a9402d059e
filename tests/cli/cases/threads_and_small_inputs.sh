# No line, one line, lines without an end, lines longer than a block, many files, and lines of no bytes.
tamis build -q set.tamis -e 1e-9 -n 1M --seed 1 <<'END'
a

b
END
head -c 700000 /dev/zero | tr '\0' x >long
for threads in 1 2 5; do
    echo "$threads threads"
    tamis has --threads $threads set.tamis </dev/null || echo "exit $?"
    printf 'a' | tamis has --threads $threads set.tamis
    printf 'a\0c\0b' | tamis has -0 --threads $threads set.tamis | tr '\0' '\n'
    { cat long; echo; echo b; cat long; } | tamis has -v --threads $threads set.tamis | wc -c
    yes '' | head -n 1000000 | tamis has -c --threads $threads set.tamis
    printf 'a\nc' >one
    tamis has --threads $threads set.tamis one one - one <one
    cat long long one | tamis build -q long.tamis --threads $threads -e 1e-9
    tamis has --threads $threads long.tamis one
    # the answer is known before the input ends, and nobody reads all that is found
    seq 100000000 | sed 's/$/ a/;1000s/.*/a/' | timeout 60 tamis has -q --threads $threads set.tamis
    yes a | tamis has --threads $threads set.tamis 2>&1 | head -n 1
done
