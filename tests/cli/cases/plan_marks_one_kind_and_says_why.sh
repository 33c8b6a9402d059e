# One star, on a kind that can do it; the smallest comes first; those that cannot say why.
for options in '' --remove --small '--count --remove' '--merge -e 1e-9'; do
    # shellcheck disable=SC2086 # a list of words
    tamis plan -n 1M $options >table
    [ "$(grep -c '^\* [a-z]* *[0-9]' table)" = 1 ] || echo "not one star: $options"
    grep -q '^\* tamis takes [a-z]*: .*\.$' table || echo "no reason: $options"
done
tamis plan -n 1M -e 1% --remove | grep -c '^\* tamis takes line: expected to be the fastest of the [0-9]* kinds that can do it\.$'
tamis plan -n 1M -e 1% --remove --small | grep -c '^\* tamis takes rank: the smallest of the [0-9]* kinds that can do it'
tamis plan -n 1M --remove | grep -c '^  bloom  *cannot remove$'
tamis plan -n 1M --remove --count | grep -c '^  bloom  *cannot remove and count$'
