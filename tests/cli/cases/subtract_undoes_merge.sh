. "$CLI_TESTS/helpers.sh"
for kind in $(tamis kinds | cut -d' ' -f1); do
    tamis plan -n 3000 -e 1e-9 --kind "$kind" --merge --remove >/dev/null 2>&1 || continue
    seq 1000 | tamis build -q a.tamis -n 3000 -e 1e-9 --kind "$kind" --merge --remove
    seq 501 1500 | tamis build -q b.tamis --like a.tamis
    seq 1501 2500 | tamis build -q c.tamis --like a.tamis
    tamis merge -q all.tamis a.tamis b.tamis c.tamis
    if [ "$kind" = ddlcbf ]; then
        code_of tamis subtract all.tamis all.tamis b.tamis
        continue
    fi
    tamis subtract -q without.tamis all.tamis b.tamis c.tamis
    [ "$(seq 10000 | tamis has without.tamis | cksum)" = "$(seq 1000 | tamis has a.tamis | cksum)" ] ||
        echo "$kind differs"
    tamis verify -q without.tamis
    tamis subtract --quiet all.tamis all.tamis c.tamis
    [ "$(seq 1600 2400 | tamis has -c all.tamis)" -le 2 ] || echo "$kind: not in place"
    [ "$(seq 1500 | tamis has -c all.tamis)" = 1500 ] || echo "$kind: lost"
    echo subtracted >subtracted
done
cat subtracted
seq 100 | tamis build -q a.tamis -n 1000 -e 1e-6 --kind counting --seed 1
seq 10 | tamis build -q b.tamis --like a.tamis
tamis subtract a.tamis a.tamis b.tamis
