. "$CLI_TESTS/helpers.sh"
seq 1000 >keys
(tamis build -q set.tamis --kind counting --seed 1 keys >&- 2>&- <&-) && tamis verify set.tamis
(tamis has set.tamis keys >&-) || echo "exit $?"
(tamis has set.tamis <&-) || echo "exit $?"
(tamis add set.tamis <&-) || echo "exit $?" # and does not read the set as keys
(tamis add set.tamis keys 2>&-) && echo added
