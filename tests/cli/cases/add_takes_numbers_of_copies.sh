# With --counts a line is a key, a tab and a number: what count prints, add takes.
. "$CLI_TESTS/helpers.sh"
printf 'apple\t5\npear\t1\nplum\t0\na\tb\t2\n\t3\n' >fruit
tamis build set.tamis -n 100 -e 1e-9 --count --counts --seed 1 fruit
printf 'apple\npear\nplum\na\tb\n\n' | tamis count set.tamis
printf 'apple\t2\n' | tamis add --counts set.tamis
echo apple | tamis count set.tamis
printf 'a\nb\t1\0c\t2\0' | tamis add -q -0 --counts set.tamis
printf 'c\n' | tamis count set.tamis
tamis build -q auto.tamis -e 1e-9 --count --counts fruit
printf 'apple\npear\n' | tamis count auto.tamis | tamis add -q --counts set.tamis
printf 'apple\npear\n' | tamis count set.tamis
cp set.tamis before
for line in 'apple' 'apple\t' 'apple\tMany' 'apple\t-1' 'apple\t1.5' 'apple\t9999999999999999999'; do
    printf 'pear\t1\n%b\n' "$line" | code_of tamis add --counts set.tamis
done
cmp set.tamis before
# "many" is what count prints for a saturated key: it is saturated again, in sets that count less or further, too
yes d | head -n 300 | tamis build -q flood.tamis -n 100 -e 1e-9 --count
printf 'd\ne\n' | tamis count flood.tamis >counts
cat counts
for options in '--count' '--count-to 15' '--count-to 1000' '--remove' '--count --kind counting' '--count --kind dlcbf'; do
    # shellcheck disable=SC2086 # a list of words
    tamis build -q again.tamis -n 100 -e 1e-9 $options --counts counts
    printf 'd\ne\n' | tamis count again.tamis | tr '\n' ' '
    echo d | code_of tamis remove -q again.tamis
done
tamis build -q again.tamis -e 1e-9 --count --counts counts # the lines are counted first
echo d | tamis count again.tamis
echo x | tamis build -q bloom.tamis -n 100 -e 1e-9 --kind bloom
tamis add --counts bloom.tamis counts
