# Two packets of 1970 and of 2023: intervals without a packet have a hundred rows, not a billion.
tamis-make-capture mixed sample.pcap connections=5 seed=7 >/dev/null
python3 -c '
import struct
data = bytearray(open("sample.pcap", "rb").read())
order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
struct.pack_into(order + "II", data, 24, 1, 0)
open("gap.pcap", "wb").write(data)'
timeout 20 tamis-flows tcp --seed 1 --interval 1s --csv gap.pcap >rows
echo "status $?" >told
python3 -c '
n = len(open("rows").read().splitlines())
print("ended", 100 <= n <= 300, open("told").read().startswith("status 0"))'
