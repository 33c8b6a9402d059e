. "$CLI_TESTS/helpers.sh"
seq 100 | tamis build -q a.tamis -e 1e-9 --hash siphash --seed 1 2>err || {
    grep -q 'not built in' err && skip 'built without libsodium'
    cat err >&2
    exit 1
}
tamis info a.tamis | grep '^  hash'
seq 50 150 | tamis has -c a.tamis
seq 100 | tamis build -q b.tamis -e 1e-9 --hash xxh3 --seed 1
fails cmp -s a.tamis b.tamis
