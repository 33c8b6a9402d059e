. "$CLI_TESTS/helpers.sh"
for size in 16Q '' 0x10 1.5 MiB; do code_of tamis plan --kind bloom --memory "$size"; done
code_of tamis plan --kind bloom --memory 16MiB -n 1M
code_of tamis plan --kind bloom --memory 1
code_of tamis plan --kind bloom --memory 0
code_of tamis plan --kind bloom --memory 1GiB --remove
code_of tamis plan --kind counting --memory 1MiB -e 1e-12 --geometry hashes=1
