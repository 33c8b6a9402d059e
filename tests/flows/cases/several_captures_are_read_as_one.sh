# A capture in two halves gives the same results as the whole.
tamis-make-capture mixed made connections=200 >/dev/null
python3 - <<'END'
import struct
data = open("made", "rb").read()
at, ends = 24, []
while at < len(data):
    at += 16 + struct.unpack_from("<I", data, at + 8)[0]
    ends.append(at)
middle = ends[len(ends) // 2]
open("first", "wb").write(data[:middle])
open("second", "wb").write(data[:24] + data[middle:])
END
tamis-flows tcp --json --seed 1 made | sed 's/,"speed":.*//' >one
tamis-flows tcp --json --seed 1 first second | sed 's/,"speed":.*//' >two
diff one two
