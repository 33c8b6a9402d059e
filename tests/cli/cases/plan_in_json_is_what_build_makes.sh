python3 - <<'END'
import json, subprocess
def run(*command):
    return json.loads(subprocess.run(["tamis", *command, "--json"], check=True,
                                     capture_output=True).stdout)
for options in ([], ["--remove"], ["--small"], ["--count", "-e", "1%"], ["--merge", "--small"]):
    plan = run("plan", "-n", "50k", *options)
    chosen = [kind for kind in plan["kinds"] if kind["chosen"]]
    assert len(chosen) == 1 and chosen[0]["kind"] == plan["chosen"] and plan["why"]
    able = [kind for kind in plan["kinds"] if kind["possible"]]
    sizes = [kind["body_bytes"] for kind in able]
    asked = [name[2:] for name in options if name in ("--remove", "--count", "--merge")]
    assert plan["abilities"] == asked
    assert sizes == sorted(sizes) and plan["kinds"][:len(able)] == able
    assert all("why_not" in kind for kind in plan["kinds"][len(able):])
    if "--small" in options:
        assert chosen[0]["body_bytes"] == sizes[0]
    subprocess.run(["tamis", "build", "-q", "set.tamis", "-n", "50k", *options], check=True,
                   stdin=subprocess.DEVNULL)
    info = run("info", "set.tamis")
    for field in ("kind", "geometry", "body_bytes", "file_bytes", "fpr", "overflow", "lines_add"):
        assert info[field] == chosen[0][field], field
print("the same")
END
