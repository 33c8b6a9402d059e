for e in 0.1% 0.001 1e-3 1/1000 1/10% 50% 1e-12; do
    tamis plan --kind bloom -n 1000 -e "$e" --json | sed -n 's/^  "fpr": //p'
done
