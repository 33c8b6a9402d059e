# The set for that many keys fits, and one for 1% more does not.
python3 - <<'END'
import json, subprocess
def plan(*options):
    out = subprocess.run(["tamis", "plan", "--kind", "bloom", "--json", *options], check=True,
                         capture_output=True).stdout
    return json.loads(out)
for text, size in (("16MiB", 16 << 20), ("1.5M", 3 << 19), ("1.2M", (6 << 20) // 5), ("1MB", 10**6), ("64KiB", 1 << 16)):
    found = plan("--memory", text)
    more = plan("-n", str(found["capacity"] * 101 // 100))
    assert found["kinds"][0]["body_bytes"] <= size < more["kinds"][0]["body_bytes"], text
END
