. "$CLI_TESTS/helpers.sh"
# A table of states: one star, the smallest on top; with --fast, line.
tamis plan -n 1M --values 8 --timeout 60 >table
head -n 1 table
[ "$(grep -c '^\* [a-z_]* *[0-9]' table)" = 1 ] || echo 'not one star'
tail -n 2 table
tamis plan -n 1M --values 8 --fast | grep '^\* tamis takes'
tamis plan -n 1M --values 8 --kind state_print | grep '^\* tamis takes'
# Shorter lives, rarer overflows and more frequent doubt are cheaper.
python3 - <<'END'
import json, subprocess
def plan(*options):
    command = ["tamis", "plan", "-n", "100k", "--values", "8", "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
def size(kind, *options):
    return plan("--kind", kind, *options)["kinds"][0]["body_bytes"]
full = plan("--timeout", "60")
chosen = [kind for kind in full["kinds"] if kind["chosen"]]
assert len(chosen) == 1 and chosen[0]["kind"] == full["chosen"] and full["why"]
assert full["values"] == 8 and full["timeout"] == 60 and full["unknown"] == full["fpr"] == 0.001
able = [kind for kind in full["kinds"] if "body_bytes" in kind]
assert len(able) == 4 and all(kind["unknown"] <= 0.001 for kind in able)
assert chosen[0]["body_bytes"] == min(kind["body_bytes"] for kind in able)
assert size("rank") < size("rank", "--timeout", "60")
assert size("rank", "--lifetime", "100k") < size("rank") < size("rank", "--overflow", "1e-15")
assert size("state_bloom", "--unknown", "1%") < size("state_bloom", "--unknown", "0.1%")
END
# What no kind can do, and what makes no sense.
code_of tamis plan -n 1000 --values 1000 --kind state_direct | tail -n 2
code_of tamis plan -n 1000 --values 8 --kind rank --geometry nonsense=1 | tail -n 2
code_of tamis plan -n 1000 --values 8 --kind bloom
code_of tamis plan -n 1000 --values 1
code_of tamis plan -n 1000 --values 8 --timeout 0
code_of tamis plan -n 1000 --values 8 --unknown 2
code_of tamis plan -n 1000 --values 8 --remove
code_of tamis plan -n 1000 --values 8 --lifetime 999
code_of tamis plan -n 1000 --timeout 60
code_of tamis plan -n 1000 --unknown 1%
code_of tamis plan --values 8
code_of tamis plan --values 8 -n auto
# under a limit of memory: as many keys as fit, or the lowest rates
tamis plan --values 8 --memory 1MiB | sed -n -e 1p -e '/^\* tamis/p'
tamis plan --values 8 --memory 1MiB -n 300k | sed -n -e 1p -e '/^\* tamis/p'
tamis plan --values 8 --memory 1MiB --json | python3 -c '
import json, sys
found = json.load(sys.stdin)
chosen = next(kind for kind in found["kinds"] if kind["chosen"])
assert found["capacity"] == chosen["capacity"] > 100000 and found["memory"] == 1 << 20, found'
