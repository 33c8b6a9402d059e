# Long lines make buffers larger. The short lines after them come in blocks as small as before, since each line of a
# block takes 32 bytes in addition to its own.
. "$CLI_TESTS/helpers.sh"
if nm "$TAMIS_BUILD/tamis" | grep -q __asan; then skip 'AddressSanitizer needs more address space'; fi
python3 - >keys <<'END'
import sys
for i in range(10):
    sys.stdout.write("x" * (2**24 - 8) + "%d\n" % i)
sys.stdout.write("\n" * 2**26)
END
ulimit -v 800000
for threads in 1 3; do
    code_of tamis dedup -c -e 1% -n 100 --threads $threads keys
    code_of tamis build -q -n 1k --threads $threads set.tamis keys
    code_of tamis has -c --threads $threads set.tamis keys
done
