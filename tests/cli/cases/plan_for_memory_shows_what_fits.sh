# A kind that does not fit says so, is not counted among those that can, and is never chosen.
python3 - <<'END'
import json, subprocess
def plan(*options):
    return json.loads(subprocess.run(["tamis", "plan", "--json", *options], check=True, capture_output=True).stdout)
for size, bytes in (("512", 512), ("1KiB", 1024), ("1MiB", 1 << 20)):
    found = plan("--memory", size)
    for kind in found["kinds"]:
        fits = kind["possible"] and kind["body_bytes"] <= bytes
        assert fits == kind["possible"] and (fits or not kind["chosen"]), kind
        assert fits or kind["why_not"], kind
    assert any(kind["chosen"] for kind in found["kinds"])
END
tamis plan --memory 100 --remove | grep '^  line'
tamis plan --memory 1MiB -n 1M -e 0.1% --remove 2>err >table || echo "exit $?"
grep -c 'does not fit: takes [0-9.]* MiB$' table
# each kind has room for a number of keys of its own; or, if that is given, a rate of its own
tamis plan --memory 1KiB --kind bloom | head -n 1
tamis plan --memory 1KiB --kind bloom -n 600 --small | sed -n -e 1p -e '/^\*/s/  */ /gp'
tamis build -q set.tamis --memory 1KiB --kind bloom --small </dev/null -n 600
tamis info set.tamis | grep -o '^  fpr.*0 when full\|[0-9.]*% when full'
seq 600 | tamis build set.tamis --memory 1KiB --kind bloom 2>&1 | grep -o 'made for .* keys'
