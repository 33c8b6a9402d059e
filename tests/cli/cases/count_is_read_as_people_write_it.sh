for n in 1000 10k 10K 1M 1m 1.5M 1.005k 2G 1e6 1Ki 1Mi 1T .5k; do
    tamis plan --kind bloom -n "$n" --json | sed -n 's/^  "capacity": //p'
done
