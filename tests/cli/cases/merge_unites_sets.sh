. "$CLI_TESTS/helpers.sh"
for kind in $(tamis kinds | cut -d' ' -f1); do
    tamis plan -n 3000 -e 1e-9 --kind "$kind" --merge >/dev/null 2>&1 || continue
    seq 1000 | tamis build -q a.tamis -n 3000 -e 1e-9 --kind "$kind" --merge
    seq 1001 2000 | tamis build -q b.tamis --like a.tamis
    seq 2001 3000 | tamis build -q c.tamis --like a.tamis
    tamis merge -q all.tamis a.tamis b.tamis c.tamis
    [ "$(seq 10000 | tamis has all.tamis | cksum)" = "$(seq 3000 | cksum)" ] || echo "$kind differs"
    tamis verify -q all.tamis
    tamis merge --quiet a.tamis a.tamis b.tamis
    [ "$(seq 10000 | tamis has -c a.tamis)" = 2000 ] || echo "$kind: not in place"
    echo merged >merged
done
cat merged
