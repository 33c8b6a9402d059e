# Run every command of docs/flows.md and compare its output with the page. Speeds and sizes of tables may
# differ.
python3 - "$TAMIS_SOURCE/docs/flows.md" <<'END'
import re, subprocess, sys

page = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", page, re.M)


def plain(text):
    text = re.sub(r"^( *(?:speed|table) ).*", r"\1", text, flags=re.M)
    text = re.sub(r"[0-9.]+ [KM]iB \(this one: [0-9.]+ [KM]iB\)", "", text)
    return re.sub(r"^( *(?:the same|ghost:|wrong:|missed:|don't know) ).*", r"\1", text, flags=re.M).strip()


for block in blocks:
    block = re.sub(r"^    ", "", block, flags=re.M).strip("\n")
    if not block.startswith("$ "):
        continue
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        if "connections=1000000" in part:  # a twentieth is enough
            part = part.replace("6500000", "325000").replace("1000000", "50000").replace("500000", "25000")
        command, _, expected = part.partition("\n")
        if command == "cat large.machine":
            open("large.machine", "w", encoding="utf-8").write(expected)
        answer = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        said = answer.stdout + answer.stderr
        if plain(said) != plain(expected):
            print(f"'{command}' printed\n{said}not\n{expected}")
END
