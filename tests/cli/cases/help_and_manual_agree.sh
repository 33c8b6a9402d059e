# Every command and every option of --help is in the manual page, and every option of the manual
# page belongs to some command.
page=$TAMIS_SOURCE/docs/man/tamis.1.scd
for command in $(tamis help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    grep -q "^\\*tamis $command\\*" "$page" || echo "no synopsis: $command"
    grep -q "^\\*$command\\*" "$page" || echo "no paragraph: $command"
    tamis help "$command" | sed -n '/^Options:/,/^$/s/.* \(--[a-z-]*\).*/\1/p'
done | sort -u >helped
grep -- '^no' helped || true
sed -n '/^# OPTIONS/,/^# EXIT/s/^\(\*-.*\)/\1/p' "$page" | grep -o -- '--[a-z-]*' | sort -u >manual
grep -v -x -e --version manual | diff helped - >&2
