. "$CLI_TESTS/helpers.sh"
paths 40000 100000 | sed 's:/[^/]*$::' >folders
[ "$(wc -l <folders)" -gt 1000 ] || skip 'there are too few files here'
awk '!seen[$0]++' folders >expected
tamis dedup -n 100k -e 1e-12 folders | cmp - expected
tamis dedup -n 100k -e 1e-12 <folders | cmp - expected
tamis dedup -n 100k -e 1e-12 -c folders | cmp - "$(wc -l <expected >n; echo n)"
awk 'seen[$0]++' folders >repeated
tamis dedup -n 100k -e 1e-12 -v folders | cmp - repeated
tamis dedup -n 100k -e 1e-12 --kind counting folders | cmp - expected
echo agreed
