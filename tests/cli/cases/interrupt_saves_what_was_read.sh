# A signal ends the input of add, build and remove: the whole lines that were read are in the file, a message says so,
# and the program ends by that signal. This is `tail -f log | tamis add`.
. "$CLI_TESTS/helpers.sh"
python3 - <<'PYTHON'
import signal, subprocess
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
def listen():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
def interrupt(number, *command, before=b"", after=b""):
    """Write some lines, wait until they are read, and send the signal. Returns what was said."""
    tool = subprocess.Popen(["tamis", *command], stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=listen)
    tool.stdin.write(before)
    tool.stdin.flush()
    wait_until_read(tool)
    tool.send_signal(number)
    assert tool.wait() == -number, (command, tool.returncode)
    return tool.stderr.read().decode()
def wait_until_read(tool):
    import fcntl, struct, termios, time
    left = 1
    while left:
        left = struct.unpack("i", fcntl.ioctl(tool.stdin, termios.FIONREAD, b"\0" * 4))[0]
        time.sleep(0.01)
    time.sleep(0.2) # and until it waits for more
def has(name, text):
    return subprocess.run(["tamis", "has", name], input=text, capture_output=True).stdout
lines = b"".join(b"%d\n" % i for i in range(10000))
for number in SIGNALS:
    name = signal.Signals(number).name
    for options in (["-n", "20000"], []): # known beforehand, or counted first
        said = interrupt(number, "build", "set.tamis", "--remove", "--seed", "1", *options, before=lines + b"half a line")
        assert f"interrupted ({name}): saving the result of the 10,000 lines read so far" in said, said
        assert "10,000 lines read, all added" in said, said
        assert has("set.tamis", lines) == lines
        assert has("set.tamis", b"half a line\n") == b""
    subprocess.run(["tamis", "build", "-q", "set.tamis", "--remove", "-n", "20000", "-e", "1e-6", "--seed", "1"], input=b"", check=True)
    said = interrupt(number, "add", "set.tamis", before=lines)
    assert "10,000 lines read, all added; it holds 10,000 keys" in said, said
    assert has("set.tamis", lines) == lines
    said = interrupt(number, "remove", "-q", "set.tamis", before=b"5\n6\n")
    assert "2 lines read so far" in said and said.count("\n") == 1, said
    assert has("set.tamis", lines) == lines.replace(b"\n5\n6\n", b"\n")
PYTHON
# timeout(1) sends its signal twice, to the program and then to its group: the second one comes at once
python3 - <<'PYTHON'
import signal, subprocess, time
def listen():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
for second in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    subprocess.run(["tamis", "build", "-q", "set.tamis", "-n", "100"], input=b"", check=True)
    tool = subprocess.Popen(["tamis", "add", "-q", "set.tamis"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            preexec_fn=listen)
    tool.stdin.write(b"last\n")
    tool.stdin.flush()
    time.sleep(0.3)
    tool.send_signal(signal.SIGTERM)
    tool.send_signal(second)
    assert -tool.wait() in (signal.SIGTERM, second), tool.returncode # of two that wait, the lower one comes first
    assert subprocess.run(["tamis", "has", "set.tamis"], input=b"last\n", capture_output=True).stdout == b"last\n", second
PYTHON
# nothing was read: nothing is saved, and the signal ends it all the same
tamis build -q set.tamis -n 10 </dev/null
cp set.tamis before
mkfifo pipe
code_of timeout -s INT 0.5 tamis add -q set.tamis pipe 2>err
cmp set.tamis before
cat err
# an ignored signal stays ignored
python3 - <<'PYTHON'
import signal, subprocess, time
tool = subprocess.Popen(["tamis", "add", "-q", "set.tamis"], stdin=subprocess.PIPE,
                        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
time.sleep(0.3)
tool.send_signal(signal.SIGHUP)
time.sleep(0.2)
tool.communicate(b"last\n")
assert tool.returncode == 0
PYTHON
echo last | tamis has set.tamis
