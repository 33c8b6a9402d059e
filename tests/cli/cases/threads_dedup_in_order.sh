# Whether a line is new depends on all lines before it, also on those that it is taken for by chance. With any number of
# threads the same lines are printed, and the same set is kept.
awk 'BEGIN { srand(1); for (i = 0; i < 600000; i++) print int(rand() * 300000) }' >lines
for options in '-e 1%' '-e 1% -n 300k' '-e 1e-6 --small -n 300k' '-e 10% -n 1000' '-e 1% -n 100k --kind line' '-v' '-c'; do
    for threads in 1 2 5; do
        # shellcheck disable=SC2086 # a list of words
        tamis dedup $options --seed 1 --threads $threads --set kept.tamis lines >out.$threads 2>said.$threads || [ $? = 1 ]
        mv kept.tamis kept.$threads
    done
    for threads in 2 5; do
        for output in out said kept; do cmp "$output.1" "$output.$threads" || echo "$options: $output of $threads threads"; done
    done
    [ -s out.1 ] || echo "$options: no output"
done
