# A capture in two runs, the second of which continues with the flows that the first has saved: together they see what
# one run sees. Files that do not fit are not used, and files of others
# are left alone.
tamis-make-capture mixed sample.pcap connections=2000 seed=7 >/dev/null
cat >split.py <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, records = 24, []
while at < len(data):
    n = 16 + struct.unpack_from("<I", data, at + 8)[0]
    records.append(data[at:at + n])
    at += n
half = len(records) // 2
open(sys.argv[2], "wb").write(data[:24] + b"".join(records[:half]))
open(sys.argv[3], "wb").write(data[:24] + b"".join(records[half:]))
END
python3 split.py sample.pcap first.pcap second.pcap
summary() { tamis-flows tcp --seed 1 --json "$@" | tail -n 1; }
summary sample.pcap >whole
summary --state flows.state first.pcap >first
head -c 24 sample.pcap >none.pcap
summary --state flows.state none.pcap >none # a run without a packet keeps the flows
summary --state flows.state second.pcap >second
summary second.pcap >alone
python3 -c '
import json
names = ("whole", "first", "none", "second", "alone")
whole, first, none, second, alone = (json.load(open(name)) for name in names)
print(none["states"] == first["states"])
print(second["states"] == whole["states"], alone["states"] == whole["states"])
print(first["flows"] + second["flows"] == whole["flows"], first["flows"] + alone["flows"] == whole["flows"])
print(all(first["events"][name] + second["events"][name] == n for name, n in whole["events"].items()))'
rm none none.pcap
. "$CLI_TESTS/helpers.sh"
# The order of age is saved as well. A flood in two runs: in the second one the table is full from the beginning, and
# old flows of the first run make room. All 60 real connections are followed.
tamis-make-capture flood flood.pcap connections=40000 packets=60 seconds=50 >/dev/null
python3 split.py flood.pcap first.flood second.flood
for part in first second; do
    code_of tamis-flows tcp --json --seed 1 --flows 20k --state flood.state $part.flood >$part 2>/dev/null
done
python3 -c '
import json
first, second = ([json.loads(line) for line in open(name) if line[0] == "{"][-1] for name in ("first", "second"))
print(second["no_room"], second["evicted"] > 19000, second["states"]["established"] + second["states"]["closed"] >= 59,
      first["events"]["established"] + second["events"]["established"] >= 59)'
rm flood.pcap first.flood second.flood flood.state
# The reader of the report has gone: the flows are saved all the same.
python3 -c '
import os, subprocess
read, write = os.pipe()
os.close(read)
subprocess.run(["tamis-flows", "tcp", "--seed", "1", "--state", "gone.state", "first.pcap"], stdout=write)'
[ -s gone.state ] && rm gone.state && echo saved
code_of tamis-flows tcp -q --state flows.state --flows 20k second.pcap
code_of tamis-flows dns -q --state flows.state second.pcap
summary --state flows.state first.pcap >/dev/null
damage flows.state 40
code_of tamis-flows tcp -q --state flows.state first.pcap
damage flows.state 5000
code_of tamis-flows tcp -q --state flows.state first.pcap
printf 'tamis-flows st1\0 and more' >old
code_of tamis-flows tcp -q --state old first.pcap
printf 'tamis-flows st1\0 and more' | cmp - old.old # kept; and the next run uses the new file
code_of tamis-flows tcp -q --state old first.pcap
printf 'tamis-flows st1\0 of another run' >old
code_of tamis-flows tcp -q --state old first.pcap # both are left alone
printf 'tamis-flows st1\0 and more' | cmp - old.old
printf 'tamis-flows st1\0 of another run' | cmp - old
ln -f old old.old # as a run leaves it that is killed
code_of tamis-flows tcp -q --state old first.pcap
printf 'tamis-flows st1\0 of another run' | cmp - old.old
rm old old.old
# A table of a newer libtamis, saved by the same version of tamis-flows: it is kept, too.
tamis-flows tcp -q --state newer first.pcap
python3 - <<'END'
import struct
with open("newer", "r+b") as file:
    data = file.read()
    file.seek(64 + 8 * struct.unpack_from("<Q", data, 32)[0] + 8)
    file.write(b"\2")
END
cp newer copy
code_of tamis-flows tcp -q --state newer first.pcap
cmp newer.old copy
code_of tamis-flows tcp -q --state newer first.pcap
rm newer newer.old copy
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
