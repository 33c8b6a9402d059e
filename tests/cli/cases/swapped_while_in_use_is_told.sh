# Another program replaces, overwrites, makes or removes the file while tamis works on it: what it did is not undone.
. "$CLI_TESTS/helpers.sh"
seq 10 | tamis build -q set.tamis -n 100 --remove
echo precious >other
python3 - <<'PYTHON'
import os, shutil, subprocess, sys
def run(change, *command):
    tool = subprocess.Popen(["tamis", *command], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    tool.stdin.write(b"1\n" * 100000) # more than a pipe holds: when this returns, the tool reads
    tool.stdin.flush()
    change()
    said = tool.communicate(b"2\n")[1].decode()
    print(tool.returncode, said, end="")
    sys.stdout.flush()
def swap():
    shutil.copy("other", "new")
    os.rename("new", "set.tamis")
def overwrite():
    with open("set.tamis", "r+b") as file:
        file.write(b"precious\n")
def make():
    shutil.copy("other", "made.tamis")
shutil.copy("set.tamis", "kept")
for change in swap, overwrite:
    for command in ["add", "-q"], ["remove", "-q"], ["build", "-q", "-n", "100"]:
        shutil.copy("kept", "set.tamis")
        run(change, command[0], "set.tamis", *command[1:])
        assert open("set.tamis", "rb").read(9) == b"precious\n"
run(make, "build", "-q", "made.tamis", "-n", "100")
assert open("made.tamis", "rb").read() == b"precious\n"
shutil.copy("kept", "set.tamis")
run(lambda: os.unlink("set.tamis"), "remove", "-q", "set.tamis")
PYTHON
seq 10 | tamis has set.tamis | head -n 1
