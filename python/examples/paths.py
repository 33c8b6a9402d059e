"""Which of 30 million files are new since yesterday? A notebook as a script; its cells begin with # %%.

usage: paths.py [PATHS]      how many paths: 100000 by default, 30e6 takes some minutes

The paths are those below /usr on this machine, again and again below /disk0, /disk1, ... until there are enough. Yesterday all
of them were there. Today every hundredth is gone, and beside every fiftieth there is a new one.
"""
# %%
import contextlib
import itertools
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterator

import tamis

CHUNK = 500_000  # paths in memory at one time


# %% Real paths, as many as we want
def real_paths() -> Iterator[str]:
    for folder, _, files in os.walk("/usr"):
        yield folder
        yield from (f"{folder}/{file}" for file in files)


def is_text(path: str) -> bool:
    """Names that are not valid UTF-8 contain surrogates: use os.fsencode() for those."""
    return not any("\ud800" <= c <= "\udfff" for c in path)


def chunks(paths: list[str], n: int) -> Iterator[list[str]]:
    disks = (f"/disk{i}{path}" for i in itertools.count() for path in paths)
    while n > 0 and (chunk := list(itertools.islice(disks, min(n, CHUNK)))):
        n -= len(chunk)
        yield chunk


# %% Time in the library alone: making the paths in Python takes as long
class Clock:
    def __init__(self) -> None:
        self.seconds, self.keys = 0.0, 0

    @contextlib.contextmanager
    def measure(self, keys: list[str]) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - start
        self.keys += len(keys)

    def show(self, label: str) -> None:
        print(f"{label:28} {self.keys:>12,} paths {self.seconds:8.2f} s {self.seconds / self.keys * 1e9:6.0f} ns each")


# %% Yesterday: all paths into a set, and the set into a file
def yesterday(paths: list[str], n: int, file: pathlib.Path) -> None:
    seen, clock = tamis.Set(capacity=n, fpr=0.001), Clock()
    for chunk in chunks(paths, n):
        with clock.measure(chunk):
            seen.update(chunk)
    clock.show("yesterday: update")
    text = sum(map(sys.getsizeof, chunk)) / len(chunk)
    print(f"{len(seen):,} keys in {seen.nbytes:,} bytes, {seen.nbytes / n:.2f} bytes each; their text alone takes "
          f"{text:.0f} bytes each in Python")
    seen.save(file)


# %% Today: which paths are gone, and which are new?
def today(paths: list[str], n: int, file: pathlib.Path) -> None:
    known = tamis.open(file)
    known.contains([])  # the first batch with results imports numpy
    asked, removed, news = Clock(), Clock(), Clock()
    missed = missed_removals = taken_for_known = 0
    for chunk in chunks(paths, n):
        with asked.measure(chunk):
            missed += len(chunk) - int(known.contains(chunk).sum())
        new = [f"{path}.new" for path in chunk[::50]]
        with news.measure(new):
            taken_for_known += int(known.contains(new).sum())
    for chunk in chunks(paths, n):
        gone = chunk[::100]
        with removed.measure(gone):
            missed_removals += len(gone) - int(known.remove_all(gone).sum())
    asked.show("today: contains, all known")
    news.show("today: contains, all new")
    removed.show("today: remove_all")
    print(f"{missed} of {asked.keys:,} known paths were missed (never any), {missed_removals} could not be removed")
    print(f"{taken_for_known:,} of {news.keys:,} new paths were taken for known: {taken_for_known / news.keys:.4%}")
    assert missed == missed_removals == 0 and len(known) == n - removed.keys
    assert taken_for_known < news.keys * 0.001 * 1.2 + 10


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
    paths = [path for path in itertools.islice(real_paths(), n) if is_text(path)]
    print(f"{len(paths):,} paths below /usr, used {n / len(paths):.1f} times")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "yesterday.tamis"
        yesterday(paths, n, file)
        start = time.perf_counter()
        with tamis.open(file, map=True, trust=True) as mapped:
            is_known = f"/disk0{paths[0]}" in mapped
        print(f"mapped and asked for one path in {(time.perf_counter() - start) * 1e3:.1f} ms ({is_known})")
        today(paths, n, file)


if __name__ == "__main__":
    main()
