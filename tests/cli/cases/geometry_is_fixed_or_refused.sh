. "$CLI_TESTS/helpers.sh"
seq 100 | tamis build -q a.tamis --kind counting --geometry hashes=5,counter_bits=3,counters=4000
tamis info a.tamis | grep geometry
code_of tamis build b.tamis -n 100 --kind counting --geometry nonsense=1
code_of tamis build b.tamis -n 100 --kind counting --geometry hashes=x
code_of tamis build -q b.tamis -n 1M -e 0 --kind bloom --geometry bits=1024 </dev/null
tamis info b.tamis | sed -n 's/^  fpr .* now, //p'
code_of tamis build b.tamis -n 1M -e 0 --kind bloom
code_of tamis build b.tamis -n 1M -e 1e-6 --kind bloom --geometry bits=1024
