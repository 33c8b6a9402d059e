. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=10 >/dev/null
code_of tamis-flows tcp made nowhere made >report
tail -n 1 report
grep -c '^  flows ' report
code_of tamis-flows tcp --json made nowhere | grep -c '"is_complete":false'
code_of tamis-flows tcp nowhere
