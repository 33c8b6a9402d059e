. "$CLI_TESTS/helpers.sh"
kinds=$(kinds_that_fill)
[ -n "$kinds" ] || skip 'no kind of this build gets full'
for kind in $kinds; do
    code=0
    { seq 50000; seq 50000; } | tamis dedup -n 100 -e 1e-6 --kind "$kind" >out 2>err || code=$?
    [ "$code" = 1 ]
    grep -q 'no room for more than .* different lines' err
    [ "$(sort -u out | wc -l)" -gt 49900 ]
done
