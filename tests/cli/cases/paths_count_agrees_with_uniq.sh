# The folders of all files, each as often as it has files.
. "$CLI_TESTS/helpers.sh"
paths 40000 100000 | sed 's:/[^/]*$::' >folders
[ "$(wc -l <folders)" -gt 1000 ] || skip 'there are too few files here'
sort folders | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "\t" n }' >expected
tamis build -q set.tamis -e 1e-12 --kind counting --geometry counter_bits=16 folders
sort -u folders | tamis count set.tamis | cmp - expected
tamis build -q small.tamis -e 1e-12 --count folders
sort -u folders | tamis count small.tamis |
    awk -F'\t' 'NR == FNR { n[$1] = $2; next } $2 != "many" && $2 != n[$1] { print; bad = 1 }
                END { exit bad }' expected -
echo agreed
