"""Print each line of the input once, as `awk '!seen[$0]++'` does, in two bytes per line.

usage: dedup.py [FILE]        without a file, the names of the files of Python's library
"""
import itertools
import os
import pathlib
import sys
from collections.abc import Iterable, Iterator

import tamis


def chunks(lines: Iterable[str], n: int = 65536) -> Iterator[list[str]]:
    """Lists of up to n lines."""
    left = iter(lines)
    while chunk := list(itertools.islice(left, n)):
        yield chunk


def new_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines that were not seen before. One new line in a thousand is missed."""
    seen = tamis.Set(capacity=100_000, grow_to=1e9, fpr=0.001, remove=True)
    for chunk in chunks(lines):
        is_new = seen.update_new(chunk)
        yield from (line for line, new in zip(chunk, is_new) if new)


def main() -> None:
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            sys.stdout.writelines(new_lines(file))
        return
    library = pathlib.Path(os.__file__).parent
    names = [path.name for path in library.rglob("*.py")]
    kept = list(new_lines(names))
    print(f"{len(names)} files have {len(kept)} different names (in truth {len(set(names))})")


if __name__ == "__main__":
    main()
