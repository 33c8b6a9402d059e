# --count-to N: counts up to N are exact; plan has a column for it, info a line.
. "$CLI_TESTS/helpers.sh"
tamis plan -n 1000 --count-to 1000 >table
head -n 1 table
sed -n '/kind/s/.*\(counts to\).*/\1/p' table
tamis plan -n 1000 --count-to 1000 --json | python3 -c '
import json, sys
found = json.load(sys.stdin)
assert all(kind["count_to"] >= 1000 for kind in found["kinds"] if kind["possible"]), found
print("met")'
tamis plan -n 1000 --count | sed -n 's/^  \(d*dlcbf\)  */\1: /p'
# --count alone counts to 255: the copy after that is one too many
tamis plan -n 1000 --count --json | python3 -c '
import json, sys
chosen = next(kind for kind in json.load(sys.stdin)["kinds"] if kind["chosen"])
print("alone:", chosen["count_to"])'
printf 'a\t255\nb\t256\n' >counts
tamis build -q set.tamis -n 1000 -e 1e-9 --count --counts counts
printf 'a\nb\n' | tamis count set.tamis
tamis info set.tamis | sed -n 's/^  counts  *//p'
printf 'a\t1000\nb\t999\nc\t1\n' >counts
tamis build -q set.tamis -n 1000 -e 1e-9 --count-to 1000 --counts counts
printf 'a\nb\nc\n' | tamis count set.tamis | cmp - counts
tamis info --json set.tamis | python3 -c 'import json, sys; assert json.load(sys.stdin)["count_to"] >= 1000'
tamis info set.tamis | sed -n 's/^  counts  *//p'
for number in 0 x 5G; do code_of tamis build set.tamis --count-to "$number" counts; done
# a kind that is named may count less than 255 by default, and build says so
for kind in line dlcbf ddlcbf bhcbf; do
    tamis build set.tamis -n 1000 -e 1% --count --kind "$kind" </dev/null 2>&1 | grep -o 'counts to [0-9]*' || echo "$kind: 255"
done
