# 100,000 connections at one time. At 0.05%, one packet in ten thousand finds a mistake.
tamis-make-capture bulk made connections=100000 packets=3 >/dev/null
tamis-flows tcp --check --json --seed 1 --flows 100k made | tail -n 1 | python3 -c '
import json, sys
found = json.load(sys.stdin)
check, packets = found["check"], found["check"]["packets"]
n, flows = sum(packets.values()), sum(check["flows_now"].values())
print(n == found["packets"], flows)
print(n - packets["same"] < n / 1000, flows - check["flows_now"]["same"] < flows / 1000)
print(check["exact_bytes"] >= 4 * found["table"]["bytes"], found["table"]["bits_per_flow"] <= 42)'
tamis-flows tcp --check --seed 1 --flows 100k made | grep -c 'compared with an exact table'
tamis-flows tcp --check --json --seed 1 --flows 100k -e 1e-9 made | tail -n 1 | grep -o '"packets":{"same":[0-9]*,"unknown":0,"missed":0,"ghost":0,"wrong":0}'
