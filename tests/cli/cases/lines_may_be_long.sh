# Lines longer than any buffer, and of every length around it.
python3 - <<'END'
import subprocess
lines = [b"x" * n for n in (0, 1, 2**16, 2**18 - 2, 2**18 - 1, 2**18, 2**18 + 1, 3 * 2**20, 7)]
lines += [b"y" * (2**19) + b"%d" % i for i in range(3)]
text = b"\n".join(lines) + b"\n"
subprocess.run(["tamis", "build", "-q", "long.tamis", "-e", "1e-9"], input=text, check=True)
got = subprocess.run(["tamis", "has", "long.tamis"], input=text[:-1], check=True,
                     capture_output=True).stdout
assert got == text, (len(got), len(text))
almost = b"x" * (3 * 2**20 - 1) + b"\n"
assert subprocess.run(["tamis", "has", "long.tamis"], input=almost).returncode == 1
print("all found")
END
