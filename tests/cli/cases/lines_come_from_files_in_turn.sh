. "$CLI_TESTS/helpers.sh"
echo a >one
echo b >two
echo c | tamis build -q set.tamis -e 1e-9 one - two
cat one two | tamis has -c set.tamis
echo c | tamis has set.tamis two - one
code_of tamis has set.tamis one missing two
code_of tamis has set.tamis one .
code_of tamis add set.tamis missing
cp set.tamis copy
code_of tamis build set.tamis one missing
cmp set.tamis copy
