seq 1000 | tamis build -q set.tamis -n 10000 -e 1e-9
for part in 1 2 3 4 5 6 7 8; do
    seq "${part}001" "${part}999" | tamis add -q set.tamis &
done
wait
seq 1000 | tamis has -c set.tamis
seq 1001 1999 | tamis has -c set.tamis
seq 8001 8999 | tamis has -c set.tamis
for part in 1 2 3 4 5 6 7 8; do seq "${part}001" "${part}999"; done | tamis has -c set.tamis
ls
