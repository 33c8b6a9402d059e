. "$CLI_TESTS/helpers.sh"
command -v tshark >/dev/null || skip "no tshark here"
for loss in 0 10; do
    tamis-make-capture mixed made connections=1000 loss=$loss >/dev/null
    tshark -r made -Y tcp -T fields -e tcp.stream 2>/dev/null | sort -un | wc -l >theirs
    tamis-flows tcp --json --seed 1 -e 1e-9 made | tail -n 1 | tr ',' '\n' | sed -n 's/^"flows"://p' | head -n 1 >ours
    diff ours theirs
done
