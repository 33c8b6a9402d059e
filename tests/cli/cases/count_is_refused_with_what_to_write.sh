# Every wrong -n gets one line and exit code 2.
. "$CLI_TESTS/helpers.sh"
for n in 10X '' -5 ' 5' abc 0x10 inf nan 1.5 0 2T 1e99 1e999 1e-400 1,000; do
    code_of tamis plan --kind bloom -n "$n"
done
