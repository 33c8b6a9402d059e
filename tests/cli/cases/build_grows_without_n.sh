# Without -n a set is never full below its grow_to, has no more false positives than -e, and takes more keys later.
# From a file it is made for the lines; from a pipe it begins small.
. "$CLI_TESTS/helpers.sh"
seq 300000 >keys
code_of tamis build file.tamis --seed 1 keys
seq 300000 | code_of tamis build pipe.tamis --seed 2
for set in file.tamis pipe.tamis; do
    tamis has -v -c $set keys || true
    # far fewer than 0.1% of a million: it is not full, and its room for growth lowers the rate
    [ "$(seq 1000001 2000000 | tamis has -c $set || true)" -lt 1000 ]
    seq 300001 900000 | code_of tamis add $set
    seq 900000 | tamis has -v -c $set || true
    [ "$(seq 1000001 2000000 | tamis has -c $set || true)" -lt 1000 ]
    tamis verify -q $set
done
# a set that grows from 2,000 to as many keys as it can hold has the rate that was asked for, within 4 sigma
seq 64000 | tamis build -q full.tamis -n 2000 --grow-to 64000 -e 1% --seed 3
tamis info full.tamis | grep growth
wrong=$(seq 1000001 1100000 | tamis has -c full.tamis || true)
[ "$wrong" -gt 400 ] && [ "$wrong" -lt 1126 ]
# and then it is full: nothing is saved
cp full.tamis before
seq 100001 200000 | code_of tamis add --threads 1 full.tamis
cmp full.tamis before
# what cannot grow is planned for its lines; at so low a rate rank can grow, and not so far
seq 1000 | code_of tamis build set.tamis --seed 4 --kind counting
seq 1000 | code_of tamis build set.tamis --seed 5 -e 1e-12
code_of tamis build set.tamis --kind counting --grow-to 1M keys
