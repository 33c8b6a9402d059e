. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=100 >/dev/null
for format in micro ng; do
    tamis-make-capture mixed made connections=100 format=$format >/dev/null
    head -c 100000 made >cut
    code_of tamis-flows tcp --json cut >out 2>err
    tail -n 1 out
    cat err
    grep -c '"is_complete":false' out
    head -c 10 made >tiny
    code_of tamis-flows tcp tiny
done
