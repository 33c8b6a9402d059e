"""Speed against size, from the results of the bench (bench/results): a figure for the page of the lab.

Times cannot be repeated exactly, so they are not part of the lab and have no verdict; the page says where they
come from. docs/performance-tables.md has all of them.
"""
import json
import sys
from pathlib import Path

RUNS = ["kinds"]
WHO = {"line:0.001": "line", "rank:0.001": "rank", "dlcbf:0.001": "dlcbf", "ddlcbf:0.001": "ddlcbf",
       "vicbf:0.001:blocked=1": "vicbf", "counting:0.001:blocked=1": "counting, blocked",
       "bhcbf:0.001": "bhcbf", "mlcbf:0.001": "mlcbf", "counting:0.001": "counting"}
WHAT = [("has_present", "has", "Lookups of present keys"),
        ("churn_pairs", "churn", "Pairs of a removal and an add, at full load")]


def points_of(runs, entry, operation):
    """[(keys, million per second, spread)], in batches."""
    points = {}
    for run in runs:
        for size in run["sizes"]:
            for row in size["contestants"]:
                rates = [call["rates"][operation] for call in row["calls"] if call["mode"] == "batch"]
                if row["entry"] == entry and row["took_part"] and rates and rates[0]:
                    rate = rates[0]
                    points[size["n"]] = [size["n"], rate["rate"], (rate["p90"] - rate["p10"]) / 2.56]
    return [points[n] for n in sorted(points)]


def experiment(folder):
    """An experiment in the form of the lab's results, without rows; None if there are no results of the bench."""
    paths = [Path(folder) / f"{name}.json" for name in RUNS]
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    if not runs:
        return None
    machine = runs[0]["machine"]["cpu"]
    figures = []
    for operation, name, title in WHAT:
        curves = [{"name": label, "points": points_of(runs, entry, operation)}
                  for entry, label in WHO.items()]
        figures.append({"name": name, "title": f"{title}, in batches", "x": "keys",
                        "y": "million per second", "log_x": True, "log_y": True,
                        "remark": "All made for 0.1%; vicbf with all counters of a key in one cache line. "
                                  "Bars are the spread of the slices.",
                        "curves": curves})
        if missing := [curve["name"] for curve in curves if not curve["points"]]:
            sys.exit(f"lab/page/speed.py: {folder} has no speeds of {', '.join(missing)} ({name}): bench/report has other names now")
    return {"id": "kinds.speed", "title": "speed against size", "paper": "Beyond the papers",
            "place": f"bench/results: measured once, on a shared {machine}; make lab does not repeat it",
            "rows": [], "figures": figures}
