tamis kinds | grep -E '^(bloom|counting) '
tamis kinds --json | python3 -c '
import json, sys
kinds = {kind["kind"]: kind for kind in json.load(sys.stdin)}
assert kinds["bloom"]["abilities"] == ["merge"]
assert kinds["dlcbf"]["abilities"] == ["remove", "count", "merge"]  # up to 63, less than the default of 255
assert kinds["counting"]["abilities"] == ["remove", "count", "merge"]
assert all(kind["summary"] for kind in kinds.values())
'
