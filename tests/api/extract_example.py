#!/usr/bin/env python3
"""Take the example out of the comment that opens the public header, ready to be compiled.

usage: extract_example.py HEADER OUTPUT

Each "..." of the example becomes a call: example_failed() where the condition is a failure,
example_held() elsewhere. An example that is not found is an error, so that it cannot get lost.
"""
import sys

header, output = sys.argv[1:]
FIRST, LAST = "#include <tamis/tamis.h>", "tamis_free(set);"

with open(header, encoding="utf-8") as file:
    comment = file.read().split("*/", 1)[0]
lines = [line.removeprefix(" *").strip() for line in comment.split("\n")]
if FIRST not in lines or LAST not in lines:
    sys.exit(f"{header}: no example from '{FIRST}' to '{LAST}' in the first comment")
lines = lines[lines.index(FIRST) : lines.index(LAST) + 1]

with open(output, "w", encoding="utf-8") as file:
    for line in lines:
        call = "example_failed();" if "!= TAMIS_OK" in line else "example_held();"
        file.write(line.replace("...", call) + "\n")
