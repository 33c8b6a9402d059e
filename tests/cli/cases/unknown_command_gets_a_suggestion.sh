. "$CLI_TESTS/helpers.sh"
for command in hsa contains rm biuld pl merg export recieve xyzzy '' a-very-long-word-that-is-no-command; do
    code_of tamis "$command"
done
code_of tamis help nonsense
