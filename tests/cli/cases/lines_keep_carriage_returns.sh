. "$CLI_TESTS/helpers.sh"
printf 'a\r\n' | tamis build -q set.tamis -e 1e-9
printf 'a\n' | code_of tamis has set.tamis
printf 'a\r\n' | tamis has set.tamis | od -An -c
