. "$CLI_TESTS/helpers.sh"
printf 'apple\npear\nplum\n' | tamis build -q fruit.tamis -e 1e-9
printf 'plum\nstone\napple\napple\nbrick\n' >asked
code_of tamis has fruit.tamis asked
code_of tamis has -v fruit.tamis asked
code_of tamis has -c fruit.tamis asked
code_of tamis has -vc fruit.tamis asked
code_of tamis has --count --invert fruit.tamis asked
code_of tamis has -q fruit.tamis asked
code_of tamis has -qv fruit.tamis asked
code_of tamis has fruit.tamis <asked
code_of tamis has fruit.tamis - asked <asked
echo stone | code_of tamis has fruit.tamis
echo stone | code_of tamis has -c fruit.tamis
echo stone | code_of tamis has -q fruit.tamis
echo plum | code_of tamis has -v fruit.tamis
code_of tamis has fruit.tamis </dev/null
code_of tamis has --trust asked --invert fruit.tamis 2>/dev/null
code_of tamis has --trust fruit.tamis asked
