# Everything that was put into a capture is found, in every format and with a small snapshot length.
for format in micro nano swapped ng; do
    for snapshot in 262144 120; do
        tamis-make-capture mixed made connections=2000 scans=3 format=$format snapshot=$snapshot >truth
        tamis-flows tcp --json --seed 1 -e 1e-9 made | tail -n 1 >found
        python3 - "$format $snapshot" <<'END'
import json, sys
truth, found = json.load(open("truth")), json.load(open("found"))
expected = {
    "packets": truth["packets"], "flows": truth["tcp"],
    "established": truth["established"], "closed": truth["closed"],
    "reset": truth["reset"], "refused": truth["refused"], "picked-up": truth["picked_up"],
    "scans": truth["scans"], "attempts": truth["scan_attempts"], "complete": True,
}
reported = {
    "packets": found["packets"], "flows": found["flows"],
    "established": found["events"]["established"], "closed": found["events"]["closed"],
    "reset": found["events"]["reset"], "refused": found["events"]["refused"], "picked-up": found["events"]["picked-up"],
    "scans": len(found["scans"]), "attempts": sum(scan["attempts"] for scan in found["scans"]),
    "complete": found["is_complete"],
}
if reported != expected or any(found["anomalies"].values()):
    print(sys.argv[1], reported, expected, found["anomalies"])
END
    done
done
