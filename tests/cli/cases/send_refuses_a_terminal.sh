# Both ways: a stream is nothing to look at, and nothing to type.
. "$CLI_TESTS/helpers.sh"
seq 1000 | tamis build -q set.tamis --kind rank
cat >terminal.py <<'END'
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
tool = subprocess.run(["tamis", "send", "set.tamis"], stdout=theirs, stderr=subprocess.PIPE)
print(tool.returncode, tool.stderr.decode(), end="")
tool = subprocess.run(["tamis", "receive", "got.tamis"], stdin=theirs, stderr=subprocess.PIPE)
print(tool.returncode, tool.stderr.decode(), end="")
END
python3 terminal.py
test ! -e got.tamis
