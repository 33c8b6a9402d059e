# In some kinds every copy takes as much room as another key. A set that is made for the lines of a file is made for all
# copies then: it keeps its rate, and no line is said to be more than it can count.
. "$CLI_TESTS/helpers.sh"
{ seq 20000; seq 20000; } >twice
{ seq 5000; yes flood | head -n 20000; } >flood
for kind in vicbf bhcbf mlcbf; do
    for options in '--remove -n auto' '--count' '--remove -n auto --copies 1' '-n auto' '--merge'; do
        # shellcheck disable=SC2086 # a list of words
        code_of tamis build set.tamis -k "$kind" $options twice 2>said
        grep -o '40,000 lines read, all added' said || cat said
        grep -o 'made for [0-9,]* keys)' said
        grep -E 'saturated|rate is now' said || true
    done
    # a flooded key takes the room of a few keys
    code_of tamis build set.tamis -k "$kind" --remove -n auto flood 2>said
    grep -o 'made for [0-9,]* keys)' said
    tamis has -c set.tamis flood
done
# the same without a name, if such a kind is chosen, and from lines with numbers
awk '{ print $1 "\t" 2 }' twice >counts
code_of tamis build set.tamis --counts --remove -n auto -k mlcbf counts 2>&1 | grep -o 'made for [0-9,]* keys)'
# the rate is above the planned one, but far below -e: that is what was asked for, so there is no warning
{ seq 6; seq 6; } >few
code_of tamis build set.tamis -k mlcbf -n 6 -e 1% --seed 1 few 2>said
grep 'rate is now' said || true
# with -n, nobody has counted the copies: they are too many for it, and it says so
code_of tamis build set.tamis --count --count-to 1 -n 2000 -k mlcbf twice 2>said
grep -o 'met only saturated counters' said
fails grep 'more copies than it can count' said
