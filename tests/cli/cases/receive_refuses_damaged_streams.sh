# One line, exit code 2, and no file; or the old one as it was.
. "$CLI_TESTS/helpers.sh"
seq 1000 >keys
tamis build -n auto -q a.tamis --remove --kind rank --seed 1 keys
tamis build -n auto -q old.tamis --kind bloom keys
tamis send -q a.tamis >good
sum=$(cksum <old.tamis)
for offset in 20 100 230 700; do
    cp good "damaged-$offset"
    damage "damaged-$offset" "$offset"
done
head -c 7 good >cut-7
head -c 100 good >cut-100
head -c 1000 good >cut-1000
{ cat good; echo; } >longer
: >empty
cp a.tamis saved
for bad in damaged-20 damaged-100 damaged-230 damaged-700 cut-7 cut-100 cut-1000 longer empty saved keys; do
    for target in new.tamis old.tamis; do
        code=0
        tamis receive "$target" <"$bad" >out 2>err || code=$?
        [ "$code $(wc -c <out) $(wc -l <err)" = '2 0 1' ] || echo "$bad: $code" "$(cat out err)"
    done
    echo "$bad $(cat err)"
    [ ! -e new.tamis ] || echo "$bad made a file"
    [ "$(cksum <old.tamis)" = "$sum" ] || echo "$bad changed a file"
done
tamis receive new.tamis </dev/zero 2>&1 | cat
ls -A | grep -c tamis
