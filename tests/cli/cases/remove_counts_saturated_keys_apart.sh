# A key that was added more often than the set can count stays; removing it is no removal, and is not called one.
. "$CLI_TESTS/helpers.sh"
for kind in counting dlcbf ddlcbf line rank; do
    tamis build -q set.tamis -n 1000 -e 1e-9 --remove --kind $kind </dev/null
    { yes flood | head -n 300; seq 10; } | tamis add -q set.tamis
    code=0
    { yes flood | head -n 20; seq 12; } | tamis remove set.tamis 2>said || code=$?
    grep -q 'removed 10 keys, 2 absent, 20 saturated (' said || cat said
    echo "$kind $code"
    printf 'flood\n1\n' | tamis has set.tamis
done
echo 1 | tamis add -q set.tamis
echo 1 | code_of tamis remove -q set.tamis
