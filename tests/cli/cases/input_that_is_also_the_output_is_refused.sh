# Lines that are appended to the file that they come from would be read again, until the disk is full.
. "$CLI_TESTS/helpers.sh"
ulimit -f 20000
seq 100000 >keys
cp keys both
tamis build -q set.tamis --count keys
for threads in 1 3; do
    code_of tamis has --threads $threads set.tamis both >>both
    code_of tamis dedup --threads $threads both >>both
    code_of tamis has --threads $threads set.tamis <both >>both
done
code_of tamis count set.tamis both >>both
make_states states.tamis
code_of tamis get states.tamis both >>both
grep -v exit both | cmp - keys
grep exit both
# What comes before it is answered.
printf '7\n' >one
printf '8\n' >two
code_of tamis has set.tamis one two >>two
cat two
# Commands that print only at the end, or no lines, may append to it.
for options in has\ -c 'has -q' 'dedup -c' 'dedup -v -c' 'add -q'; do
    seq 5 >both
    # shellcheck disable=SC2086 # a command and its option
    case $options in dedup*) tamis $options both >>both ;; *) tamis $options set.tamis both >>both ;; esac
    tail -n 1 both
done
