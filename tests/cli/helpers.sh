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

# Real keys: the paths of this machine, all different, in no order. At most as many as asked for.
paths() {
    find /usr /etc /var /lib -xdev ! -name '*
*' 2>/dev/null | LC_ALL=C sort -u | awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' |
        LC_ALL=C sort | cut -f2- | head -n "$1"
}

# The kinds whose adds can be refused.
kinds_that_fill() {
    for kind in $(tamis kinds | cut -d' ' -f1); do
        seq 50000 | tamis build -q fill.tamis -n 100 -e 1% --kind "$kind" 2>fill.err && continue
        if grep -q 'full' fill.err; then echo "$kind"; fi
    done
    rm -f fill.tamis fill.err
}

# Wait until a condition holds: wait_for COMMAND...
wait_for() {
    for _ in $(seq 100); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    echo "waited in vain for: $*"
    return 1
}
