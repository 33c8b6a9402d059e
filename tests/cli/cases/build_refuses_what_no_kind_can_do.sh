. "$CLI_TESTS/helpers.sh"
code_of tamis build set.tamis -n 100 --kind bloom --remove
code_of tamis build set.tamis -n 100 --kind bloom --count
code_of tamis build set.tamis -n 1T -e 1e-12 --kind counting </dev/null
ls
