name=$(printf 'odd "name"\\ \t\303\251\377.tamis')
seq 1000 | tamis build -q "$name" -n 2000 --kind counting --seed 0x1234 -e 1%
tamis info --json "$name" | python3 -m json.tool >/dev/null
tamis info --json "$name" "$name" | python3 -c '
import json, sys
text = sys.stdin.read()
first, end = json.JSONDecoder().raw_decode(text)
second = json.loads(text[end:])
assert first == second
assert first["file"] == "odd \"name\"\\ \t\u00e9\ufffd.tamis", first["file"]
assert first["kind"] == "counting" and first["keys"] == 1000 and first["capacity"] == 2000
assert first["abilities"] == ["remove", "count", "merge"]
assert first["seed"] == "0x00000000000000000000000000001234" and first["hash"] == "xxh3"
assert 0.009 < first["fpr"] <= 0.01 and 0 < first["current_fpr"] < 0.001
assert first["geometry"]["counter_bits"] == 4
assert first["refused_adds"] == first["refused_removes"] == first["saturated"] == 0
'
