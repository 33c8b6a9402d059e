for command in $(tamis help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    tamis help "$command" >page
    tamis "$command" --help | cmp - page
    tamis "$command" -h | cmp - page
    grep -q "^Usage: tamis $command" page
    grep -q '^Options:' page
    sed -n '/^Examples:/,$p' page | grep -q "^  .*tamis "
    awk 'length > 100 { print FILENAME ": too wide: " $0 }' page
    echo "$command"
done
