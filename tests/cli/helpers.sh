# helpers.sh - what several cases need. Read with: . "$CLI_TESTS/helpers.sh"

skip() {
    echo "$1"
    exit 77
}

# Run a command and print its exit code; `sh -e` goes on.
code_of() {
    code=0
    "$@" || code=$?
    echo "exit $code"
}

# `! command` is lost on `sh -e`; this is not: fails COMMAND...
fails() {
    if "$@"; then
        echo "this should have failed: $*"
        exit 1
    fi
}

# Change one byte of a file: damage FILE OFFSET
damage() {
    python3 - "$1" "$2" <<'END'
import sys
name, offset = sys.argv[1], int(sys.argv[2])
with open(name, "r+b") as file:
    file.seek(offset)
    byte = file.read(1)[0]
    file.seek(offset)
    file.write(bytes([byte ^ 1]))
END
}

# Real keys: paths of this machine, all different, in no order. At most as many as asked for; the second number is for
# long runs.
paths() {
    set -- "$1" "${2:-$1}"
    [ -n "${CLI_LONG:-}" ] && shift
    find /usr /etc /var /lib -xdev ! -name '*
*' 2>/dev/null | head -n "$1" | LC_ALL=C sort -u | awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' |
        LC_ALL=C sort | cut -f2-
}

# The kinds whose adds can be refused.
kinds_that_fill() {
    for kind in $(tamis kinds | cut -d' ' -f1); do
        seq 50000 | tamis build -q fill.tamis -n 100 -e 1% --kind "$kind" 2>fill.err && continue
        if grep -q 'full' fill.err; then echo "$kind"; fi
    done
    rm -f fill.tamis fill.err
}

# Wait until a condition holds, for up to a minute, since the machine may be busy: wait_for COMMAND...
wait_for() {
    for _ in $(seq 1200); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    echo "waited in vain for: $*"
    return 1
}

# Does tamis-flows capture? It gives up its rights when the interfaces are open: is_capturing PID
is_capturing() { grep -qs '^Seccomp:.2' "/proc/$1/status"; }

# Skip the case if tamis-flows cannot capture from the loopback interface here.
needs_capture() {
    tamis-flows tcp -q -i lo -c 1 -f 'port 1' 2>why & probe=$!
    wait_for eval 'is_capturing $probe 2>/dev/null || test -s why'
    kill -INT $probe 2>/dev/null || true
    wait $probe || skip "cannot capture here: $(cat why)"
}

# Capture what talk.py does on the loopback interface. It writes its port to `port`, and begins when there is a file
# `go`. The output of tamis-flows is in `lines`: capture_talk ARGUMENTS...
capture_talk() {
    python3 talk.py & talker=$!
    wait_for test -s port
    tamis-flows "$@" --json -q -i lo -f "port $(cat port)" >lines & watcher=$!
    wait_for is_capturing $watcher
    touch go
    wait $talker
    kill -INT $watcher
    wait $watcher
}

# Does somebody listen on this TCP port? is_listening PORT
is_listening() { ss -Hltn "sport = :$1" | grep -q .; }

# Is a process in a network namespace of its own yet? has_own_net PID
has_own_net() { test "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)"; }

# A file of states that a C program has made: make_states FILE [crowded]. With `crowded`, keys 1 to 2000 share the
# cells of a table for 1000; otherwise "idle" has the value 0 and "running" 1.
make_states() {
    command -v "${CC:-cc}" >/dev/null || skip 'there is no C compiler'
    states_flags=
    if nm -D "$TAMIS_BUILD/libtamis.so" | grep -q __asan; then states_flags=-fsanitize=address,undefined; fi
    cat >make_states.c <<'C'
#include <stdio.h>
#include <string.h>
#include <tamis/tamis.h>
static int put(tamis_states *states, const char *key, uint32_t value) {
    return tamis_states_put(states, key, strlen(key), value) == TAMIS_OK;
}
int main(int argc, char **argv) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_seed const  seed = { 1, 2 };
    tamis_states     *states;
    spec.capacity = 1000;
    spec.values = 8;
    spec.fpr = argc > 2 ? 0.1 : 0.000001;
    spec.kind = argc > 2 ? "state_bloom" : "rank";
    spec.timeout = argc > 2 ? 0 : 60;
    spec.seed = &seed;
    if (tamis_states_create(&spec, &states, NULL) != TAMIS_OK) return 1;
    if (argc == 2 && (!put(states, "idle", 0) || !put(states, "running", 1))) return 2;
    for (unsigned i = 1; argc > 2 && i <= 2000; i++) {
        char key[20];
        snprintf(key, sizeof key, "%u", i);
        if (!put(states, key, i % 2)) return 3;
    }
    if (tamis_states_save(states, argv[1], NULL) != TAMIS_OK) return 4;
    tamis_states_free(states);
    return 0;
}
C
    # shellcheck disable=SC2086 # a list of words
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror $states_flags -I"$TAMIS_SOURCE/include" make_states.c -o make_states \
        -L"$TAMIS_BUILD" -ltamis -Wl,-rpath,"$TAMIS_BUILD"
    ./make_states "$@"
}
