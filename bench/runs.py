"""Read what tamis-bench --json wrote, for the plots and the tables."""
import json
from pathlib import Path

OPERATIONS = [("fill", "add"), ("has_present", "has, present"), ("has_absent", "has, absent"),
              ("remove", "remove"), ("churn_pairs", "churn pair")]
MODES = ["single", "batch"]


OWN = ["growing", "sharing"]  # what tamis-bench-growing and -sharing wrote: not contests


def load(folder):
    """Every run in a folder, by the name of its file."""
    commits = load_commits(folder)
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) | {"commit": commits.get(path.stem, "not noted")}
            for path in sorted(Path(folder).glob("*.json")) if path.stem not in OWN}


def load_own(folder, name):
    """What tamis-bench-growing or -sharing wrote, or None."""
    path = Path(folder) / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def load_commits(folder):
    """Which commit each run is of, by its name, as far as bench/report noted it."""
    path = Path(folder) / "commits.txt"
    return dict(line.split() for line in path.read_text(encoding="utf-8").splitlines()) if path.exists() else {}


def rows_of(size, group=None):
    """The contestants that took part: those of a group, or (without one) all but the ceilings."""
    is_wanted = (lambda row: row["group"] == group) if group else \
        (lambda row: row["group"] != "ceiling")
    return [row for row in size["contestants"] if row["took_part"] and is_wanted(row)]


def call_of(row, mode):
    return next((call for call in row["calls"] if call["mode"] == mode), None)


def figure_of(row, mode, operation):
    """{rate, p10, p90, of_ceiling}, or None."""
    call = call_of(row, mode)
    return call["rates"][operation] if call else None


def best_figure(row, mode, operation):
    """The figure for a mode, or for single calls if there is none; and the mode that it is for."""
    for tried in [mode, "single"]:
        figure = figure_of(row, tried, operation)
        if figure:
            return figure, tried
    return None, mode


def cost_of(row, mode, operation):
    """Nanoseconds per operation, or None."""
    figure = figure_of(row, mode, operation)
    return 1000 / figure["rate"] if figure else None


def ceiling_of(size, row):
    return next((other for other in rows_of(size, "ceiling") if other["name"] == row["ceiling"]), None)


def label_of(row):
    """The entry without its rate: "rank small"."""
    name, *words = row["entry"].split(":")
    return " ".join([name] + [word for word in words if not is_number(word) and word != "plain"])


def is_number(word):
    try:
        float(word)
        return True
    except ValueError:
        return False


def keys_text(n):
    """3900000 becomes "3.9 M"."""
    for factor, letter in [(10**9, " G"), (10**6, " M"), (10**3, " k")]:
        if n >= factor:
            return f"{n / factor:g}{letter}"
    return str(n)


def size_of(run, n):
    return next((size for size in run["sizes"] if size["n"] == n), None)


def growth(all_runs):
    """{entry: [(n, row, size)], sorted by n}, from the runs with several sizes."""
    found = {}
    for name in ["small", "peers", "large"]:
        for size in all_runs.get(name, {"sizes": []})["sizes"]:
            for row in rows_of(size):
                found.setdefault(row["entry"], {})[size["n"]] = (size["n"], row, size)
    return {entry: [points[n] for n in sorted(points)] for entry, points in found.items()}
