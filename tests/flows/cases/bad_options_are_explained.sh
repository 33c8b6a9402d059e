. "$CLI_TESTS/helpers.sh"
code_of tamis-flows tcp
code_of tamis-flows run
code_of tamis-flows tpc made
code_of tamis-flows sctp made
code_of tamis-flows tcp --flows 1X made
code_of tamis-flows tcp --flows 0 made
code_of tamis-flows tcp --memory 16X made
code_of tamis-flows tcp --memory 1 made
code_of tamis-flows tcp --memory 20 made
code_of tamis-flows tcp --memory 100 --kind line made
code_of tamis-flows tcp --kind state_bloom made
code_of tamis-flows tcp --memory 1M --flows 1M made
code_of tamis-flows tcp -e 2 made
code_of tamis-flows tcp -c 0 made
code_of tamis-flows tcp --kind lines made
code_of tamis-flows tcp --seed x made
code_of tamis-flows tcp --exact --check made
code_of tamis-flows tcp -i lo made
code_of tamis-flows tcp --filter
code_of tamis-flows tcp --json=yes made
code_of tamis-flows tcp --bogus made
code_of tamis-flows tcp -x made
code_of tamis-flows show
code_of tamis-flows show sctp
code_of tamis-flows tcp nowhere.pcap
code_of tamis-flows tcp -i no-such-interface
code_of tamis-flows tcp --log x --log-columns client,colour made
code_of tamis-flows tcp --log x --log-where client made
code_of tamis-flows tcp --log x --log-where client_bytes=many made
code_of tamis-flows tcp --log x --log-where 'state=closed,state!=clsed' made
code_of tamis-flows tcp --log-json made
code_of tamis-flows check --dot
code_of tamis-flows tcp --log nowhere/x made
code_of tamis-flows tcp --keep 3 made
code_of tamis-flows tcp --buffer 2M made
code_of tamis-flows tcp --fail-on-drops made
