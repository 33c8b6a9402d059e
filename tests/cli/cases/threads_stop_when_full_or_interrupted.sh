# A full set is refused as a whole, whichever thread finds it. A signal ends the input: what was read by then is in the
# file, as if there had been no more.
. "$CLI_TESTS/helpers.sh"
seq 1000000 >keys
for threads in 1 2 5; do
    for kind in line rank; do
        fails tamis build set.tamis -n 100k --kind $kind --threads $threads keys 2>err
        grep -q 'set.tamis is full after 1[0-9][0-9],[0-9]* lines: it holds .*; nothing was saved' err || cat err
        fails [ -e set.tamis ]
        seq 100000 | tamis build -q set.tamis -n 100k --kind $kind
        cp set.tamis before
        fails tamis add set.tamis keys --threads $threads 2>err
        grep -q 'set.tamis is full after' err || cat err
        cmp set.tamis before
        rm set.tamis
    done
done
python3 - <<'PYTHON'
import re, signal, subprocess, time
def listen():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
for threads in "1", "2", "5":
    for options in ["-n", "2M", "--kind", "line"], ["-n", "2M"], [], ["-n", "auto", "--remove"]:
        source = subprocess.Popen(["sh", "-c", "seq 300000; exec sleep 60"], stdout=subprocess.PIPE)
        command = ["tamis", "build", "set.tamis", "--seed", "1", "--threads", threads, *options]
        tool = subprocess.Popen(command, stdin=source.stdout, stderr=subprocess.PIPE, preexec_fn=listen)
        time.sleep(0.3)
        tool.send_signal(signal.SIGINT)
        said = tool.communicate()[1].decode()
        source.kill()
        source.communicate()
        assert tool.returncode == -signal.SIGINT, (command, tool.returncode, said)
        n = int(re.search(r"the ([0-9,]+) lines? read so far", said).group(1).replace(",", ""))
        assert f"{n:,} lines read, all" in said or "were in it already" in said, said
        lines = b"".join(b"%d\n" % i for i in range(1, n + 1))
        subprocess.run(["tamis", "build", "-q", "whole.tamis", "--seed", "1", "--threads", "1", *options], input=lines, check=True)
        assert open("set.tamis", "rb").read() == open("whole.tamis", "rb").read(), (command, n)
PYTHON
