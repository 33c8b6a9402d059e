. "$CLI_TESTS/helpers.sh"
paths 40000 200000 >all
n=$(($(wc -l <all) / 2))
[ "$n" -gt 1000 ] || skip 'there are too few files here'
head -n "$n" all >in
sort in >in.sorted
sort all >all.sorted
for options in '' '--remove' '--small' '--hash xxh3 --small --remove'; do
    # shellcheck disable=SC2086 # a list of words
    tamis build -q set.tamis -e 1e-12 $options in
    tamis has set.tamis all | sort | cmp - in.sorted
    tamis has -v set.tamis <all | sort >out.sorted
    comm -23 all.sorted in.sorted | cmp - out.sorted
    # has and -v together are everything, in order
    [ "$(tamis has -c set.tamis all)" = "$n" ]
done
tamis build -q half.tamis -e 1% in
tamis has half.tamis in | cmp - in
wrong=$(comm -23 all.sorted in.sorted | tamis has -c half.tamis) || true
# 1% of n absent paths, and six standard deviations
awk -v wrong="$wrong" -v n="$n" 'BEGIN { m = n / 100; exit !(wrong <= m + 6 * sqrt(m)) }'
echo agreed
