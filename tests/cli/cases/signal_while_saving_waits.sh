# While a file is being saved, a signal waits: the save is completed, and no temporary file stays
# behind. A library in between makes saving slow, on a file system without nameless files.
. "$CLI_TESTS/helpers.sh"
command -v "${CC:-cc}" >/dev/null || skip 'there is no C compiler'
if nm -D "$TAMIS_BUILD/libtamis.so" | grep -q __asan; then skip 'not with AddressSanitizer'; fi
cat >slow.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>
int fsync(int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    close(creat("saving", 0600));
    usleep(700000);
    return real(file);
}
int openat64(int folder, const char *path, int flags, ...) {
    int (*real)(int, const char *, int, ...) =
        (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
    if ((flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
    return real(folder, path, flags, 0666);
}
int openat(int folder, const char *path, int flags, ...) {
    return openat64(folder, path, flags, 0666);
}
END
${CC:-cc} -shared -fPIC -w -o slow.so slow.c -ldl || skip 'cannot build the library in between'
seq 1000 | tamis build -q set.tamis -n 10000 -e 1e-9
python3 - <<'END'
import glob, os, signal, subprocess, time
tool = subprocess.Popen(["tamis", "add", "-q", "set.tamis"], stdin=subprocess.PIPE,
                        env=dict(os.environ, LD_PRELOAD="./slow.so"))
tool.stdin.write(b"apple\n")
tool.stdin.close()
while not os.path.exists("saving"):
    time.sleep(0.01)
assert glob.glob(".tamis-*.tmp"), "the temporary file should have a name"
tool.send_signal(signal.SIGTERM)
assert tool.wait() == -signal.SIGTERM, tool.returncode
END
echo apple | tamis has set.tamis
ls -A
