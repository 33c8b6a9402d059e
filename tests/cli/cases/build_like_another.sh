. "$CLI_TESTS/helpers.sh"
seq 100 | tamis build -q a.tamis -n 5000 -e 1e-9 --merge
seq 101 200 | tamis build -q b.tamis --like a.tamis
tamis info a.tamis | sed -n '/geometry\|seed/p' >a.info
tamis info b.tamis | sed -n '/geometry\|seed/p' | cmp - a.info
seq 300 | tamis has -c b.tamis
code_of tamis build c.tamis --like a.tamis -n 100
code_of tamis build c.tamis --like missing.tamis
seq 10 >keys
code_of tamis build c.tamis --like keys
code_of tamis build c.tamis --like -
