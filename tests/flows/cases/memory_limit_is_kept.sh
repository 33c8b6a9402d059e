tamis-make-capture mixed made connections=100 >/dev/null
for memory in 64K 1M 16M; do
    tamis-flows tcp --json --memory $memory made | tail -n 1 | python3 -c '
import json, sys
limit = {"64K": 65536, "1M": 1 << 20, "16M": 1 << 24}[sys.argv[1]]
table = json.load(sys.stdin)["table"]
print(table["bytes"] <= limit, table["bytes"] > 0.9 * limit, table["bits_per_flow"] <= 42)' $memory
done
