# While the first signal's save goes on, a second signal ends the program, unless it comes within half a second, and the
# old file stays. A library in between makes saving slow.
. "$CLI_TESTS/helpers.sh"
command -v "${CC:-cc}" >/dev/null || skip 'there is no C compiler'
if nm -D "$TAMIS_BUILD/libtamis.so" | grep -q __asan; then skip 'not with AddressSanitizer'; fi
cat >slow.c <<'C'
#include <fcntl.h>
#include <unistd.h>
int fsync(int file) {
    (void)file;
    close(creat("saving", 0600));
    for (unsigned left = 60; left != 0;) left = sleep(left); /* a signal that is handled ends sleep() */
    return 0;
}
C
${CC:-cc} -shared -fPIC -w -o slow.so slow.c || skip 'cannot build the library in between'
seq 1000 | tamis build -q set.tamis -n 10000
cp set.tamis before
python3 - <<'PYTHON'
import os, signal, subprocess, time
def listen():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
for first, second in ((signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)):
    tool = subprocess.Popen(["tamis", "add", "set.tamis"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=dict(os.environ, LD_PRELOAD="./slow.so"), preexec_fn=listen)
    tool.stdin.write(b"apple\n" * 100000)
    tool.stdin.flush()
    tool.send_signal(first)
    while not os.path.exists("saving"):
        time.sleep(0.01)
    tool.send_signal(second) # this soon after the first, it counts as the same
    time.sleep(0.6)
    assert tool.poll() is None
    tool.send_signal(second)
    assert tool.wait(timeout=30) == -second, tool.returncode
    os.unlink("saving")
PYTHON
cmp set.tamis before
ls -A
