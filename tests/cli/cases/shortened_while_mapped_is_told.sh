# Another program cuts the file under our hands: a message, not a crash.
seq 100000 | tamis build -q set.tamis --kind bloom
python3 - <<'END'
import os, subprocess
tool = subprocess.Popen(["tamis", "has", "--trust", "set.tamis"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
tool.stdin.write(b"1\n")
tool.stdin.flush()
assert tool.stdout.readline() == b"1\n"
os.truncate("set.tamis", 0)
out, err = tool.communicate(b"2\n")
print(tool.returncode, out.decode(), err.decode(), end="")
END
