# Files, outputs and messages are the same with any number of threads: of sets that threads change at the same time
# (line) and of others, of lines from files and from pipes, and of sets that are about to grow.
seq 400000 >keys
seq 5 400000 >some
tail -n +250000 keys | cat - keys >again
same() { # OUTPUT: the runs with 1, 2 and 5 threads have left $OUTPUT.1, .2 and .5
    for threads in 2 5; do cmp "$1.1" "$1.$threads" || echo "$options: $1 of $threads threads"; done
}
for options in '--kind line -n 400k' '--kind line -n 400k --remove --copies 2' '--kind line -n 400k --count' \
    '-n 400k' '--small --remove -n 400k --copies 2' '--kind counting -n 400k' '-n auto --remove' '' '--remove' '--count'; do
    for threads in 1 2 5; do
        # shellcheck disable=SC2086 # a list of words
        tamis build set.tamis --seed 1 $options --threads $threads again 2>said.$threads
        mv set.tamis file.$threads
        # shellcheck disable=SC2086
        tamis build set.tamis --seed 1 $options --threads $threads <again 2>read.$threads
        mv set.tamis stream.$threads
        # shellcheck disable=SC2086
        cat again | tamis build -q pipe.$threads --seed 1 $options --threads $threads
        tamis has -v --threads $threads pipe.$threads keys >missing.$threads || [ $? = 1 ]
        seq 300000 3 900000 | tamis has --threads $threads file.$threads >found.$threads
        cp file.1 set.tamis
        case $options in *--remove* | *--count* | *counting*)
            { cat some; seq 1000000 1000100; } | tamis remove set.tamis --threads $threads 2>removal.$threads || [ $? = 1 ]
            same_after=removal ;;
        *)
            tamis add set.tamis some --threads $threads 2>addition.$threads
            same_after=addition ;;
        esac
        tamis has set.tamis keys --threads $threads >left.$threads
    done
    for output in said read file stream pipe missing found left $same_after; do same $output; done
    [ ! -s missing.1 ] || echo "$options: false negatives"
    [ -s found.1 ] || echo "$options: nothing was found"
    rm -f removal.* addition.*
done
# a step of growth begins at 15/16 of the capacity: here, at 245,760 keys
for n in 245000 245759 245760 245761 246000 255000 262143 262144 275000; do
    for threads in 1 2 5; do seq $n | tamis build -q grown.$threads --seed 1 --threads $threads; done
    options="$n keys" same grown
done
