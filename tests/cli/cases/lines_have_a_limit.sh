# A line of 16 MiB is a key. Input without line ends is an error, and does not take all memory: what came before it is
# answered, and no file is changed.
. "$CLI_TESTS/helpers.sh"
(seq 3 && python3 -c "print('x' * 2**24)") >longest
(seq 3 && python3 -c "print('x' * (2**24 + 1))") >too-long
for threads in 1 3; do
    tamis build -q set.tamis --remove --count --threads $threads --seed 1 longest
    tamis has --threads $threads set.tamis longest | cmp - longest
    head -c -1 longest | tamis has --threads $threads set.tamis | cmp - longest
    cp set.tamis before.tamis
    for command in 'has set.tamis' 'dedup -e 1e-6' 'dedup --set set.tamis' 'add set.tamis' 'remove set.tamis' \
        'build -q set.tamis' 'build -q set.tamis -n auto'; do
        # shellcheck disable=SC2086 # a command and its options
        code_of tamis $command --threads $threads <too-long
        cmp set.tamis before.tamis
    done
    head -c -1 too-long | code_of tamis has -c --threads $threads set.tamis
done
code_of tamis count set.tamis too-long
code_of tamis has -0 set.tamis <too-long
nm "$TAMIS_BUILD/tamis" | grep -q __asan || ulimit -v 200000
code_of timeout 60 tamis has --threads 1 set.tamis </dev/zero
