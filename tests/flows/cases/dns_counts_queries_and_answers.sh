tamis-make-capture mixed made connections=2000 >truth
tamis-flows dns --json --seed 1 -e 1e-9 made | tail -n 1 >found
python3 - <<'END'
import json
truth, found = json.load(open("truth")), json.load(open("found"))
events = found["events"]
if (events["asked"], events["answered"]) != (truth["dns"], truth["dns"] - truth["dns_unanswered"]):
    print(truth, events)
END
