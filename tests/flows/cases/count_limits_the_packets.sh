tamis-make-capture mixed made connections=300 >/dev/null
for n in 1 63 64 65 1000; do
    tamis-flows tcp --json -c $n made | tail -n 1 | grep -o '"packets":[0-9]*' | head -n 1
done
