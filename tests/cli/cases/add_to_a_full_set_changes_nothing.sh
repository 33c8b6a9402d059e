. "$CLI_TESTS/helpers.sh"
kinds=$(kinds_that_fill)
[ -n "$kinds" ] || skip 'no kind of this build gets full'
for kind in $kinds; do
    seq 100 | tamis build -q set.tamis -n 100 -e 1% --kind "$kind"
    cp set.tamis before
    seq 101 100000 >more
    fails tamis add set.tamis more 2>err
    [ "$(wc -l <err)" = 1 ]
    grep -q 'set.tamis is full after .* lines: it holds .* and is made for 100 keys; nothing was saved' err
    cmp set.tamis before
    fails tamis build other.tamis -n 100 -e 1% --kind "$kind" more 2>err
    grep -q 'other.tamis is full after' err
    fails [ -e other.tamis ]
    # where copies take room, the message says what helps
    for copy in 1 2 3 4; do seq 1000; done >copies
    case $kind in line | rank) # the others count, or store once
        fails tamis build -q other.tamis -n 1000 -e 1% --remove --kind "$kind" copies 2>err
        grep -q 'is made for 1,000 keys; nothing was saved, .* with --copies 4 if every key may come 4 times$' err ;;
    esac
done
