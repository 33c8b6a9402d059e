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
tamis plan --memory 1KiB --merge --small | grep -c '^  counting  *does not fit: [0-9.]* KiB too large$'
tamis plan --memory 1KiB --kind bloom | head -n 1
