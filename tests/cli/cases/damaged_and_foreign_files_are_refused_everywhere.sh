# Every command that opens a set says one line, ends with 2, and leaves all files as they are.
. "$CLI_TESTS/helpers.sh"
seq 1000 >keys
tamis build -q good.tamis --kind counting keys
tamis build -q rank.tamis --kind rank keys
tamis send -q rank.tamis >stream
cp good.tamis damaged.tamis
damage damaged.tamis 5000
cp keys foreign.tamis
: >empty.tamis
head -c 4500 good.tamis >cut.tamis
before=$(sha256sum ./*)
for bad in damaged foreign empty cut missing; do
    for command in add has remove count info verify send; do
        code=0
        tamis "$command" "$bad.tamis" <keys >out 2>err || code=$?
        [ "$code $(wc -c <out) $(wc -l <err)" = '2 0 1' ] || echo "$command $bad: $code" "$(cat out err)"
    done
    for line in "merge good.tamis good.tamis $bad.tamis" "merge good.tamis $bad.tamis good.tamis" \
        "convert $bad.tamis good.tamis --kind bloom" "receive good.tamis stream --like $bad.tamis" "build good.tamis --like $bad.tamis"; do
        code=0
        # shellcheck disable=SC2086 # a list of words
        tamis $line <keys >out 2>err || code=$?
        [ "$code $(wc -l <err)" = '2 1' ] || echo "$line: $code" "$(cat err)"
    done
    tail -n 1 err >&2
done
rm out err
[ "$(sha256sum ./*)" = "$before" ] || echo "a file was changed"
