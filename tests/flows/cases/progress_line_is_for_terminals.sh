# A progress line is shown on a terminal, and not with -q. Its rate is that of the last moments: many packets, then one
# every tenth of a second.
tamis-make-capture mixed many connections=2000 >/dev/null
cat >feed.py <<'END'
import os, pty, re, select, struct, subprocess, sys, time
limit, pattern, *command = sys.argv[1:]
capture = open("many", "rb").read()
one = capture[24:40 + struct.unpack_from("<I", capture, 32)[0]]
ours, theirs = pty.openpty()
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
child.stdin.write(capture)
seen, end = "", time.monotonic() + float(limit)
while time.monotonic() < end and not re.search(pattern, seen):
    child.stdin.write(one)
    child.stdin.flush()
    if select.select([ours], [], [], 0.1)[0]:
        seen += os.read(ours, 4096).decode()
child.stdin.close()
child.wait()
print(bool(re.search(pattern, seen)), len(seen) > 0)
END
# Rates of 1000/s and more are printed with a k. The mean rate of the 24,737 packets is above that for 24 seconds.
python3 feed.py 20 'packets, [0-9.]+/s, .* flows now' tamis-flows tcp --json -
python3 feed.py 2 packets tamis-flows tcp --json -q -
