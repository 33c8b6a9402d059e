. "$CLI_TESTS/helpers.sh"
seq 5 | code_of tamis dedup --set seen.tamis -n 1000 -e 1e-9
seq 3 8 | code_of tamis dedup --set seen.tamis -n 1000 -e 1e-9
seq 8 | code_of tamis dedup --set seen.tamis -q -c
seq 9 | code_of tamis dedup --set seen.tamis -q -v -n 1000 | tail -n 2
tamis info seen.tamis | grep -o 'made for .*'
# -n belongs to the first run
echo 10 | code_of tamis dedup --set seen.tamis -n 2000
# without it, what is remembered grows
echo 10 | code_of tamis dedup --set new.tamis
seq 20000 | tamis dedup -q --set new.tamis -c # one in a million would be lost: the set is far from full
seq 20000 | code_of tamis dedup --set new.tamis -c
# a run that fails leaves the file: the lines come again
cp seen.tamis before
{ seq 100000 | tamis dedup -q --set seen.tamis -n 1000 2>err || true; } | head -n 0
cmp seen.tamis before
echo precious >keys
echo 1 | code_of tamis dedup --set keys -n 10
echo 1 | code_of tamis dedup --set - -n 10
# Ctrl-C keeps what was printed
python3 - <<'PYTHON'
import signal, subprocess
tool = subprocess.Popen(["tamis", "dedup", "-q", "--set", "seen.tamis"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
tool.stdin.write(b"late\n")
tool.stdin.flush()
assert tool.stdout.readline() == b"late\n"
tool.send_signal(signal.SIGINT)
assert tool.wait() == -signal.SIGINT
PYTHON
echo late | tamis dedup -q --set seen.tamis -c
