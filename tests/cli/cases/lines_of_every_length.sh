# Separators are looked for 64 bytes at a time: wherever they lie in a block, and however many there
# are, lines are cut there and nowhere else.
python3 - <<'END'
import random, subprocess
random.seed(1)
def check(lines, separator, *options):
    text = separator.join(lines) + separator
    kept = {line for line in set(lines) if random.random() < 0.5}
    subprocess.run(["tamis", "build", "-q", "set.tamis", "-n", "10000", "-e", "1e-12", *options],
                   input=b"".join(line + separator for line in sorted(kept)), check=True)
    found = subprocess.run(["tamis", "has", "set.tamis", *options], input=text, capture_output=True).stdout
    assert found == b"".join(line + separator for line in lines if line in kept), options
    others = subprocess.run(["tamis", "has", "-v", "set.tamis", *options], input=text, capture_output=True).stdout
    assert others == b"".join(line + separator for line in lines if line not in kept), options
letters = bytes(set(range(256)) - {0, 10})
near = bytes([9, 11, 138, 128, 1, 127, 255]) # close to a newline or to NUL, in some bit
for alphabet in (letters, near):
    every = [bytes(random.choices(alphabet, k=n)) for n in range(200) for _ in range(3)]
    short = [bytes(random.choices(alphabet, k=random.choice((0, 0, 1, 2)))) for _ in range(20000)]
    for lines in (every, short, random.sample(every, len(every)), every + short + every):
        check(lines, b"\n")
        check(lines, b"\0", "-0")
print("all cut")
END
