. "$CLI_TESTS/helpers.sh"
paths 40000 150000 >all
n=$(($(wc -l <all) / 3))
[ "$n" -gt 1000 ] || skip 'there are too few files here'
head -n "$n" all >a
tail -n "$n" all >b
tamis build -q a.tamis -n "$((2 * n))" -e 1e-12 --merge a
tamis build -q b.tamis --like a.tamis b
tamis merge -q ab.tamis a.tamis b.tamis
sort -u a b >expected
tamis has ab.tamis all | sort | cmp - expected
echo agreed
