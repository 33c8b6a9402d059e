# A capture that has only one direction: connections are established by an ACK or data, the client is the same as in
# the whole capture, and nobody becomes a scanner.
tamis-make-capture mixed made connections=3000 scans=0 >/dev/null
side() { tamis-flows tcp --json --seed 1 -e 1e-9 -f "ip and $2" made >"$1"; }
side whole 'net 10.0.0.0/8'
side client 'src net 10.0.0.0/8'
side server 'dst net 10.0.0.0/8'
python3 - <<'END'
import json

def established(name):
    """The connections that are established at some time, and whether it is said who opened them."""
    *events, summary = [json.loads(line) for line in open(name)]
    found = {}
    for event in events:
        if event["event"] in ("established", "picked-up"):
            ends = event["client"], event["client_port"], event["server"], event["server_port"]
            found.setdefault(ends, event.get("is_guess", False))
    print(name, len(summary["scans"]), len(summary["retries"]))
    return found

whole, client, server = established("whole"), established("client"), established("server")
# A guess may be wrong, or be about a refused connection. All others are found, with the same client.
for side in client, server:
    print(len(side) > 0.95 * len(whole), all(ends in whole for ends, is_guess in side.items() if not is_guess),
          all(ends in side for ends, is_guess in whole.items() if not is_guess))
everything = [*whole.items(), *client.items(), *server.items()]
print(all(ends[0].startswith("10.") for ends, is_guess in everything if not is_guess))
guesses = [ends[0].startswith("10.") for ends, is_guess in everything if is_guess]
print(len(guesses) > 100, sum(guesses) > 0.9 * len(guesses))
END
