. "$CLI_TESTS/helpers.sh"
for size in 16Q '' 0x10 1.5 MiB 0; do code_of tamis plan --kind bloom --memory "$size"; done
# too little for one key, or not possible in any memory
for job in '--kind bloom --memory 1' '--kind bloom --memory 1GiB --remove' \
    '--kind counting --memory 1MiB -e 1e-12 --geometry hashes=1'; do
    # shellcheck disable=SC2086 # a list of words
    code_of tamis plan $job | tail -n 2
done
