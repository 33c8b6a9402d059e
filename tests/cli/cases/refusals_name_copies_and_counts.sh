# Where copies or counts are what no kind, or not this kind, can do, the message says so: not the rate.
. "$CLI_TESTS/helpers.sh"
for options in '--remove --copies 2 -k mlcbf' '--remove --copies 100000 -k counting' '--count-to 100M -k line' \
    '--remove --copies 100M' '--count-to 1G' '--count-to 300 -k dlcbf' '--count --memory 1500B' '--count -n 1 --memory 3B'; do
    # shellcheck disable=SC2086 # a list of words
    code_of tamis build set.tamis -n 1000 $options </dev/null
done
# a limit of memory that leaves the capacity or the rate open is not the reason either
code_of tamis build set.tamis --memory 1MiB -e 1% --remove --copies 2 -k mlcbf </dev/null
code_of tamis build set.tamis --memory 1MiB -n 1000 --remove --copies 2 -k mlcbf </dev/null
code_of tamis build set.tamis --memory 1MiB -e 1% --remove --copies 100M </dev/null
# what it advises works
tamis build -q set.tamis -n 2000 --remove -k mlcbf </dev/null
tamis build -q set.tamis -n 1000 --remove --copies 4681 -k counting </dev/null
tamis build -q set.tamis -n 1000 --count-to 16777215 -k line </dev/null
# the same in the table of plan
tamis plan -n 1k --count-to 100M -k line | tail -n 1
tamis plan -n 1M --count-to 1000000000 | grep 'only to'
tamis plan -n 1k --copies 1000000 --remove | grep -v 'cannot remove' | grep cannot
tamis plan -n 1k --grow-to 1M --count-to 100M | grep 'only to'
