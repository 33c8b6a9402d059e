. "$CLI_TESTS/helpers.sh"
paths 40000 100000 >all
n=$(($(wc -l <all) / 3))
[ "$n" -gt 1000 ] || skip 'there are too few files here'
head -n "$n" all >gone
tail -n +"$((n + 1))" all | sort >left
tamis build -q set.tamis -e 1e-12 --remove all
tamis remove -q set.tamis gone
tamis has set.tamis all | sort | cmp - left
tamis add -q set.tamis gone
tamis has set.tamis all | cmp - all
tamis remove -q set.tamis all
tamis has -c set.tamis all || echo "empty again"
tamis verify -q set.tamis
