. "$CLI_TESTS/helpers.sh"
[ -c /dev/full ] || skip 'there is no /dev/full'
seq 1000 >keys
tamis build -q set.tamis --kind counting keys
tamis build -q rank.tamis --kind rank keys
for line in 'has set.tamis keys' 'has -c set.tamis keys' 'count set.tamis keys' 'info set.tamis' \
    'plan -n 1000' 'dedup -n 1000 keys' 'help' 'verify set.tamis' 'send rank.tamis'; do
    code=0
    # shellcheck disable=SC2086 # a list of words
    tamis $line >/dev/full || code=$?
    echo "$line: $code"
done
