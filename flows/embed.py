"""Write the machines as C source: embed.py OUTPUT MACHINE...

Each file becomes an array of bytes. The machine is named after the file, without its extension.
"""
import sys
from pathlib import Path

output, *names = sys.argv[1:]
lines = ['#include "machine.h"', "", "/* Made by embed.py from flows/machines/. */", ""]
for name in names:
    path = Path(name)
    content = path.read_bytes()
    lines.append(f"static const char text_{path.stem}[] = {{")
    for at in range(0, len(content), 16):
        lines.append("    " + " ".join(f"{byte}," for byte in content[at:at + 16]))
    lines += ["};", ""]
lines.append("const machine_shipped *machine_shipped_at(size_t i) {")
lines.append("    static const machine_shipped all[] = {")
for name in names:
    stem = Path(name).stem
    lines.append(f'        {{ "{stem}", text_{stem}, sizeof text_{stem} }},')
lines += ["    };", "    return i < sizeof all / sizeof all[0] ? &all[i] : NULL;", "}", ""]
Path(output).write_text("\n".join(lines), encoding="utf-8")
