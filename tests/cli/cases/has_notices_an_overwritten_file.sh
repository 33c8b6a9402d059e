# A large file is mapped. If another program writes to it, answers are not trusted any more; a small file, and any with
# --read, is in memory by then. A file that is replaced, as tamis does it, harms nobody.
. "$CLI_TESTS/helpers.sh"
seq 1000 | tamis build -q small.tamis --kind bloom
seq 1000 | tamis build -q large.tamis -n 10M --kind bloom -e 0.1%
seq 1001 2000 | tamis build -q other.tamis -n 10M --kind bloom
[ "$(wc -c <large.tamis)" -gt 16777216 ]
python3 - <<'PYTHON'
import os, shutil, subprocess, sys
def ask(name, change, *command):
    tool = subprocess.Popen(["tamis", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tool.stdin.write(b"1\n")
    tool.stdin.flush()
    assert tool.stdout.readline() == b"1\n"
    change(name)
    out, err = tool.communicate(b"2\n")
    print(tool.returncode, out.decode().strip(), err.decode().strip())
    sys.stdout.flush()
def overwrite(name):
    with open(name, "r+b") as file:
        file.seek(5000)
        file.write(b"\0" * 1000)
def replace(name):
    shutil.copy("other.tamis", "new")
    os.rename("new", name)
for name in "small", "large":
    for change in replace, overwrite:
        for options in [], ["--read"]:
            shutil.copy(f"{name}.tamis", "set.tamis")
            ask("set.tamis", change, "has", "set.tamis", *options)
PYTHON
