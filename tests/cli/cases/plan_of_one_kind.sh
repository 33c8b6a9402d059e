. "$CLI_TESTS/helpers.sh"
code_of tamis plan -n 1M -e 0.1% --kind bloom | sed 's/\(never  *never\).*/\1 .../'
code_of tamis plan -n 1M -e 0.1% --kind bloom --remove --count
