# A Bloom filter never refuses; it gets worse, and that is said, even with --quiet.
seq 1000 | tamis build --kind bloom -q set.tamis -n 100 --seed 1
tamis build --kind counting -q copies.tamis -n 100 --seed 1 </dev/null
for copy in 1 2 3 4; do seq 50; done | tamis add copies.tamis # many copies are no overload
