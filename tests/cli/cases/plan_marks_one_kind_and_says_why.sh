# One star, on a kind that can do it; the smallest comes first; those that cannot say why.
for options in '' --remove --small '--count --remove' '--merge -e 1e-9'; do
    # shellcheck disable=SC2086 # a list of words
    tamis plan -n 1M $options >table
    [ "$(grep -c '^\* [a-z]* *[0-9]' table)" = 1 ] || echo "not one star: $options"
    grep -q '^\* tamis takes [a-z]*: .*\.$' table || echo "no reason: $options"
done
tamis plan -n 1M -e 1% --remove | grep '^\* tamis takes'
tamis plan -n 1M -e 1% --remove --small | grep '^\* tamis takes'
tamis plan -n 1M --remove | grep '^  bloom '
tamis plan -n 1M --remove --count | grep '^  bloom '
