. "$CLI_TESTS/helpers.sh"
printf 'b\na\nb\n\nc\na\n\nb\nb' >lines
code_of tamis dedup -n 100 -e 1e-9 lines
code_of tamis dedup -n 100 -e 1e-9 -v <lines
code_of tamis dedup -n 100 -e 1e-9 -c lines
code_of tamis dedup -n 100 -e 1e-9 -cv lines
code_of tamis dedup -n 100 -e 1e-9 lines lines
code_of tamis dedup -n 100 </dev/null
