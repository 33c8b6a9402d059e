. "$CLI_TESTS/helpers.sh"
seq 20000 >keys
for kind in $(tamis kinds | cut -d' ' -f1); do
    TAMIS_ISA=portable tamis build -q portable.tamis --kind "$kind" --seed 1 keys
    TAMIS_ISA= tamis build -q best.tamis --kind "$kind" --seed 1 keys
    cmp portable.tamis best.tamis
    if tamis send -q best.tamis >stream 2>err; then
        TAMIS_ISA=portable tamis send -q portable.tamis | cmp - stream
    fi
    seq 15000 99999 | TAMIS_ISA=portable tamis has portable.tamis | cksum >one
    seq 15000 99999 | tamis has best.tamis | cksum | cmp - one
done
TAMIS_ISA=avx1024 code_of tamis plan -n 1000 2>err
sed 's/supports .*portable$/supports ... portable/' err >&2
