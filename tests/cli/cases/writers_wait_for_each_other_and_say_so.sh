. "$CLI_TESTS/helpers.sh"
seq 10 | tamis build -q set.tamis -n 100 -e 1e-9 --kind counting
python3 - <<'END'
import subprocess, time
def start(*options):
    return subprocess.Popen(["tamis", *options], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
def wait_until_reading(tool):  # it has the lock when its input is taken
    tool.stdin.write(b"x\n" * 100000)
    tool.stdin.flush()
for options in (["add"], ["add", "-q"], ["build", "-n", "100", "--kind", "counting"]):
    first = start("remove", "-q", "set.tamis")
    wait_until_reading(first)
    second = start(options[0], "set.tamis", *options[1:])
    second.stdin.write(b"y\n")
    second.stdin.close()
    if "-q" not in options:
        print(second.stderr.readline().decode(), end="", flush=True)
    time.sleep(0.1)
    assert second.poll() is None
    first.stdin.close()
    assert first.wait() == 1 # all were absent
    assert second.wait() == 0
    print(len(second.stderr.readlines()), "more")
END
