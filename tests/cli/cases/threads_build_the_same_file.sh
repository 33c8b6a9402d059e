# However many threads add, and however small the set begins, the file has the bytes that one thread gives it.
for lines in 900 7000 40000 500000; do
    seq $lines >keys
    for threads in 1 2 3 8; do
        cat keys | tamis build -q --force "pipe.$threads" --seed 1 --threads $threads
        tamis build -q --force "file.$threads" -e 1e-4 --remove --seed 1 --threads $threads keys
        cmp pipe.1 "pipe.$threads" || echo "$threads threads, $lines lines of a pipe"
        cmp file.1 "file.$threads" || echo "$threads threads, $lines lines of a file"
    done
done
