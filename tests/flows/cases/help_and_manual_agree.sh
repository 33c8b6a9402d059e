# The help and the manual page list the same options.
page=$TAMIS_SOURCE/docs/man/tamis-flows.1.scd
tamis-flows help | sed -n '/^Options:/,/^$/s/.* \(--[a-z-]*\).*/\1/p' | sort -u >helped
sed -n '/^# OPTIONS/,/^# /s/^\(\*-.*\)/\1/p' "$page" | grep -o -- '--[a-z-]*' | sort -u >manual
diff helped manual >&2
for command in tcp dns run machines show; do
    grep -q "^\\*tamis-flows $command\\*" "$page" || echo "no synopsis: $command"
done
tamis-flows help | head -n 1
tamis-flows --version | cut -d' ' -f1
