# Without -n, build looks at the lines of a file before it plans: however often they come again, they fit, and can be removed.
. "$CLI_TESTS/helpers.sh"
{ seq 100000; seq 100000; } >twice
for _ in 1 2 3 4 5; do seq 33000; done >five
{ seq 50000; yes flood | head -n 50000; } >flood
{ seq 300000; seq 100; seq 100; } >few # more different lines than the sample holds, and few that come again
for keys in twice five flood few; do
    for options in '--remove' '--remove --small' '--count' '--count --small' '--remove --merge -e 1e-6' \
        '--remove --kind dlcbf' '--remove --kind counting' ''; do
        # shellcheck disable=SC2086 # a list of words
        tamis build -q set.tamis $options $keys || echo "$options: exit $?"
        tamis has -v -q set.tamis $keys && echo "$options: a line is not found"
        case $options in *remove*) ;; *) continue ;; esac
        [ $keys != flood ] || continue # what is saturated stays
        tamis remove -q set.tamis $keys || echo "$options: not all of $keys can be removed"
    done
done
# it is made for the different lines, and a fifteenth more: no step of growing begins while it is built
tamis build set.tamis --count five 2>&1 | grep -o 'made for .* keys with up to . copies each'
tamis build set.tamis flood 2>&1 | grep -o 'made for .* keys'
# with -n auto it is made for these lines, and for no more
tamis build set.tamis --count -n auto five 2>&1 | grep -o 'made for .* keys.*)'
# the same lines make the same file
tamis build -q a.tamis --remove --seed 1 few
tamis build -q b.tamis --remove --seed 1 <few
cmp a.tamis b.tamis
# with -n nothing is looked at: then it can get full, and says for what it is made
code_of tamis build set.tamis --remove -n 33000 --seed 1 --threads 1 five
