# The plan is what happens: the sizes are those of sets that grow.
. "$CLI_TESTS/helpers.sh"
tamis plan -n 2000 --grow-to 100k --kind line | sed -n '/as it grows/,$p'
tamis plan -n 2000 --grow-to 100k --kind line --json >plan.json
tamis build -q set.tamis -n 2000 --grow-to 100k --kind line </dev/null
for n in 1 3000 10000 30000 90000; do
    tamis resize -q set.tamis $n
    tamis info --json set.tamis >info.json
    python3 - <<'END'
import json
plan, info = json.load(open("plan.json")), json.load(open("info.json"))
row = plan["stages"][info["stage"]]
same = all(row[name] == info[name] for name in ("capacity", "body_bytes", "bits_per_key", "fpr"))
print("stage", info["stage"], "as planned" if same else (row, info))
END
done
tamis plan -n 2000 --grow-to 100k --kind bloom | tail -n 1 || true
code_of tamis plan --grow-to 1G -e 1e-9 --kind line | tail -n 1
code_of tamis plan --values 5 --timeout 60 --grow-to 10k --kind line | tail -n 5
tamis plan --grow-to 1M --code | grep -e capacity -e grow_to
