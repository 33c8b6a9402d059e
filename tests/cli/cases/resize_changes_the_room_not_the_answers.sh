. "$CLI_TESTS/helpers.sh"
seq 20000 >keys
tamis build -q set.tamis --remove -n 1000 --grow-to 1M --seed 1 keys
seq 100001 200000 | tamis has set.tamis >wrong || true
code_of tamis resize set.tamis 300k
tamis has -c set.tamis keys
seq 100001 200000 | tamis has set.tamis | cmp - wrong
# no smaller than its keys allow, and no larger than it may become
code_of tamis resize set.tamis 19999
code_of tamis resize set.tamis 2M
tamis remove -q set.tamis <keys
seq 500 | tamis add -q set.tamis
code_of tamis resize set.tamis 500
seq 500 | tamis has -c set.tamis
tamis verify set.tamis
seq 501 20000 | tamis add -q set.tamis # and it grows again
tamis has -c set.tamis keys
tamis build -q fixed.tamis -n 1000 </dev/null
code_of tamis resize fixed.tamis 2000
code_of tamis resize missing.tamis 2000
