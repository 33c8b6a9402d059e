# One star, on a kind that can do it; the smallest comes first; those that cannot say why.
for options in '' --remove --small '--count --remove' '--merge -e 1e-9'; do
    # shellcheck disable=SC2086 # a list of words
    tamis plan -n 1M $options >table
    [ "$(grep -c '^\* [a-z]* *[0-9]' table)" = 1 ] || echo "not one star: $options"
    grep -q '^\* tamis takes [a-z]*: .*\.$' table || echo "no reason: $options"
done
for preference in --fast --small; do
    tamis plan -n 1M -e 1% --remove $preference >table
    able=$(grep -c '^[* ] [a-z]* *[0-9]' table)
    sed -n "/^\* tamis takes/s/ $able kinds/ able kinds/p" table
done
tamis plan -n 1M --remove | grep '^  bloom '
tamis plan -n 1M --remove --count | grep '^  bloom '
