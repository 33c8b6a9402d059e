# A capture in two runs, the second of which continues with the flows that the first has saved: together they see what
# one run sees. Files that do not fit are not used, and files of others
# are left alone.
tamis-make-capture mixed sample.pcap connections=2000 seed=7 >/dev/null
python3 -c '
import struct
data = open("sample.pcap", "rb").read()
at, records = 24, []
while at < len(data):
    n = 16 + struct.unpack_from("<I", data, at + 8)[0]
    records.append(data[at:at + n])
    at += n
half = len(records) // 2
open("first.pcap", "wb").write(data[:24] + b"".join(records[:half]))
open("second.pcap", "wb").write(data[:24] + b"".join(records[half:]))'
summary() { tamis-flows tcp --seed 1 --json "$@" | tail -n 1; }
summary sample.pcap >whole
summary --state flows.state first.pcap >first
summary --state flows.state second.pcap >second
summary second.pcap >alone
python3 -c '
import json
whole, first, second, alone = (json.load(open(name)) for name in ("whole", "first", "second", "alone"))
print(second["states"] == whole["states"], alone["states"] == whole["states"])
print(first["flows"] + second["flows"] == whole["flows"], first["flows"] + alone["flows"] == whole["flows"])
print(all(first["events"][name] + second["events"][name] == n for name, n in whole["events"].items()))'
. "$CLI_TESTS/helpers.sh"
code_of tamis-flows tcp -q --state flows.state --flows 20k second.pcap
code_of tamis-flows dns -q --state flows.state second.pcap
summary --state flows.state first.pcap >/dev/null
damage flows.state 40
code_of tamis-flows tcp -q --state flows.state first.pcap
damage flows.state 5000
code_of tamis-flows tcp -q --state flows.state first.pcap
printf 'hello' >other
code_of tamis-flows tcp -q --state other first.pcap
cat other; echo
: >other
code_of tamis-flows tcp -q --state other first.pcap
mkfifo pipe
code_of tamis-flows tcp -q --state pipe first.pcap
head -c 20 flows.state >cut
code_of tamis-flows tcp -q --state cut first.pcap
code_of tamis-flows tcp -q --state no/such/folder first.pcap
ls
