# The line about --small says what --small does; a kind is called the smallest, or the only one, only if it is.
python3 - <<'PYTHON'
import json, os, re, subprocess
def run(*options):
    return subprocess.run(["tamis", "plan", *options], check=True, capture_output=True, text=True).stdout
def fact(*options):
    found = json.loads(run("--json", *options))
    return found, next(kind for kind in found["kinds"] if kind["chosen"])
JOBS = [["-n", n, "-e", e, *abilities]
        for n, e in (("1M", "0.1%"), ("777", "7%"), ("29", "1e-6"))
        for abilities in ([], ["--remove"], ["--count"], ["--merge"])]
JOBS += [["--memory", "1KiB"], ["--memory", "1MiB", "--remove"]]  # bisections, which take half a second each
if "CLI_LONG" in os.environ:
    JOBS += [["-n", "1M", "-e", "1%", *abilities] for abilities in ([], ["--remove"], ["--count"], ["--merge"])]
    JOBS += [["--memory", "1KiB", "--remove"], ["--memory", "1KiB", "--merge"]]
    JOBS += [["--memory", "1MiB"], ["--memory", "1MiB", "--merge"]]
for job in JOBS:
    text = run(*job)
    fast, _ = fact(*job)
    small, smallest = fact("--small", *job)
    named = re.search(r"With --small it takes (\S+), (?:for |at )?(.*?)(?: keys?)?\.\n", text)
    assert named, (job, text)
    first = run("--small", *job).split("\n\n")[1]
    starred = next(line for line in first.split("\n") if line.startswith("*")).split()
    assert named[1] == smallest["kind"] == starred[1], (job, named[1], smallest["kind"])
    assert named[2] == (starred[2] if "--memory" in job else " ".join(starred[2:4])), (job, named[2], starred)
    assert fast["with_small"]["body_bytes"] == smallest["body_bytes"], job
    assert fast["with_small"]["capacity"] == small["capacity"], job
    assert "with_small" not in small
    assert "smallest" not in fast["why"], fast["why"]
    for found in fast, small:
        possible = [kind for kind in found["kinds"] if "body_bytes" in kind]
        assert "only kind that can do it" not in found["why"] or len(possible) == 1, (job, found["why"])
    able = [kind for kind in small["kinds"] if kind["possible"]]
    if "--memory" in job:
        assert smallest["capacity"] == max(kind["capacity"] for kind in able), job
    else:
        assert smallest["body_bytes"] == min(kind["body_bytes"] for kind in able), job
PYTHON
tamis plan -n 1M -e 1% --remove | grep -- --small
# the last line's kind and size are those of the row that --small takes
small=$(tamis plan -n 777 -e 7% --count --small | sed -n 's/^\* \([a-z]*\)  *\([0-9.]* [A-Za-z]*\) .*/\1, \2/p')
test -n "$small"
tamis plan -n 777 -e 7% --count | grep -cF -- "With --small it takes $small."
# the only kind is the only one that can do it, also by name and with --small; a kind that can do it only if named has that as its reason
python3 - <<'PYTHON'
import json, subprocess
JOBS = [["-n", "20k", "--memory", "30KiB", "--count"], ["-n", "20k", "--memory", "36KiB", "--count"],
        ["-n", "20k", "--memory", "30KiB", "--remove"], ["-n", "1M", "-e", "1%", "--memory", "1250KiB", "--remove"],
        ["-n", "100", "-e", "1%", "--memory", "300B", "--remove"]]
NAMED = "copies use up capacity: chosen only if named"
def plan(*options):
    ran = subprocess.run(["tamis", "plan", "--json", *options], capture_output=True, text=True)
    return ran.returncode, json.loads(ran.stdout)
for job in JOBS:
    code, found = plan(*job)
    possible = [kind["kind"] for kind in found["kinds"] if kind["possible"]]
    assert code == (0 if possible else 1), (job, code)
    # a layout for speed that does not fit is no reason to say that a kind cannot do it
    small = [kind["kind"] for kind in plan(*job, "--small")[1]["kinds"] if kind["possible"]]
    assert sorted(possible) == sorted(small), (job, possible, small)
    why = found.get("why", "")
    assert ("the only kind" in why) == (len(possible) == 1), (job, why)
    for kind in found["kinds"]:
        if kind["possible"] or not plan(*job, "-k", kind["kind"])[1]["kinds"][0]["possible"]:
            continue
        if kind["why_not"].startswith("counts only to"):
            continue  # a named kind need not count to 255
        assert kind["why_not"] == NAMED, (job, kind)
        assert not why.endswith("the only kind that can do it"), (job, kind, why)
PYTHON
# where line does not fit into the memory, the lowest rate is worth more than a tenth of a cache line
tamis plan -n 1M --memory 1.3MiB --remove | grep '^\*.*takes'
tamis plan -n 1M --memory 1.3MiB --remove --small | grep '^\*.*takes'
