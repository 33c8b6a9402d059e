# An answer is there before the next line is asked: nothing waits in a buffer.
python3 - <<'END'
import subprocess
subprocess.run(["tamis", "build", "-q", "f.tamis", "-e", "1e-9"], input=b"apple\npear\n", check=True)
for command in (["tamis", "has", "f.tamis"], ["tamis", "dedup", "-n", "100", "-e", "1e-9"]):
    tool = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for fruit in (b"pear\n", b"apple\n"):
        tool.stdin.write(fruit)
        tool.stdin.flush()
        assert tool.stdout.readline() == fruit
    tool.stdin.close()
    assert tool.wait() == 0
print("all answered")
END
