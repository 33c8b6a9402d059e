# With --discard-on-interrupt, and in commands that do not collect keys, a signal ends the program: no file is changed,
# and none is left behind.
. "$CLI_TESTS/helpers.sh"
seq 1000 >keys
tamis build -q set.tamis -n 10000 --kind counting keys
cp set.tamis before
python3 - <<'PYTHON'
import signal, subprocess
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DISCARD = "--discard-on-interrupt"
def listen(): # a background job ignores SIGINT, and one under nohup SIGHUP; this one does not
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
for number in SIGNALS:
    for command in (["add", DISCARD, "set.tamis"], ["remove", DISCARD, "set.tamis"], ["build", DISCARD, "set.tamis"],
                    ["build", DISCARD, "new.tamis", "-n", "1000"], ["dedup", "-n", "1000"], ["receive", "set.tamis"]):
        tool = subprocess.Popen(["tamis", *command], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, preexec_fn=listen)
        tool.stdin.write(b"\x89tamsnd\n" if command[0] == "receive" else b"1\n2\n3\n" * 100000)
        tool.stdin.flush()
        if command[0] == "dedup":
            assert tool.stdout.readline() == b"1\n"
        assert tool.poll() is None
        tool.send_signal(number)
        assert tool.wait() == -number, (command, tool.returncode)
PYTHON
cmp set.tamis before
ls -A
