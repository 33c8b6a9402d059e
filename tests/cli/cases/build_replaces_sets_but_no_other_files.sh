. "$CLI_TESTS/helpers.sh"
echo precious >keys.txt
: >empty
echo a | tamis build -q set.tamis
echo b | code_of tamis build keys.txt
cat keys.txt
echo b | code_of tamis build -q set.tamis -e 1e-9
echo b | code_of tamis build -q empty
printf 'a\nb\n' | tamis has set.tamis
echo c | code_of tamis build -q --force keys.txt
echo c | tamis has keys.txt
echo precious >other.txt
code_of tamis merge other.txt set.tamis set.tamis
echo a | tamis build -q counting.tamis --kind counting
code_of tamis convert counting.tamis other.txt --kind bloom
cat other.txt
