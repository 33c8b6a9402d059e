. "$CLI_TESTS/helpers.sh"
code_of tamis plan -n 1M -e 0.1% --kind bloom --small
tamis plan -n 1M -e 0.1% --kind bloom | grep '^\* bloom'
code_of tamis plan -n 1M -e 0.1% --kind bloom --remove --count
