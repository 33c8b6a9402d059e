# What is wrong is named: the field, what the kind takes, and how to write it.
. "$CLI_TESTS/helpers.sh"
seq 100 | tamis build -q a.tamis --kind counting --geometry hashes=5,counter_bits=3,counters=4000
tamis info a.tamis | grep geometry
for geometry in nonsense=1 bits=1000 hashes=x hashes= hashes '' , 'hashes=5;counters=9' HASHES=5 hashes=5,hashes=6 \
    hashes=0 hashes=65 hashes=99999999999999999999 hashes=999999999999999999999999 counter_bits=99 counters=1; do
    code_of tamis build b.tamis -n 100 --kind counting --geometry "$geometry"
done
code_of tamis build b.tamis -n 100 --kind bloom --geometry hashes=65
code_of tamis build -q b.tamis -n 1M -e 0 --kind bloom --geometry bits=1024 </dev/null
tamis info b.tamis | sed -n 's/^  fpr .* now, //p'
code_of tamis build b.tamis -n 1M -e 0 --kind bloom
code_of tamis build b.tamis -n 1M -e 1e-6 --kind bloom --geometry bits=1024
code_of tamis build b.tamis -n 1000 --kind rank --remove --geometry copies=1
# counters that fill no cache lines are wherever there is room, and are refused only if lines are asked for
tamis plan -n 1024 -e 1% --kind vicbf --geometry counters=4388 --json | grep -A 6 '"geometry"' | grep -E '"(counters|blocked)"'
code_of tamis plan -n 1024 -e 1% --kind vicbf --geometry counters=4388,counter_bits=7,blocked=1 | grep -E 'vicbf|exit'
# without a kind: one that has the field is enough, and the others say what they lack
code_of tamis plan -n 1000 --geometry nonsense=1
code_of tamis plan -n 1000 --geometry counter_bits=99
tamis plan -n 1000 --geometry counter_bits=5 | sed -n -e 's/^. \(counting\)  *[0-9].*/\1 can/p' -e 's/^  \(bloom .*\)/\1/p'
