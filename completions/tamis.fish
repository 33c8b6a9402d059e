# fish completion for tamis(1)
# The tool itself lists commands, options and kinds, so the lists are never out of date.

function __tamis_commands
    tamis help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __tamis_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

function __tamis_options
    set -l command (__tamis_command)
    test -n "$command"; and tamis help $command 2>/dev/null | sed -n '/^Options:/,/^$/s/^ .* \(--[a-z-]*\)[ A-Z]*  *\(.*\)/\1\t\2/p'
end

function __tamis_kinds
    tamis kinds 2>/dev/null | sed 's/^\([a-z]*\)  *\(.*\)/\1\t\2/'
end

# The option whose value is typed now.
function __tamis_after
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

complete -c tamis -n 'test (count (commandline -opc)) -eq 1' -f -a '(__tamis_commands)'
complete -c tamis -n 'test (count (commandline -opc)) -eq 1' -f -a 'help' -d 'Print a page about a command'
complete -c tamis -n 'contains -- help (__tamis_command)' -f -a '(__tamis_commands)'
complete -c tamis -n '__tamis_after -k --kind' -f -a '(__tamis_kinds)'
complete -c tamis -n '__tamis_after --hash' -f -a 'xxh3 siphash'
complete -c tamis -n '__tamis_after -e --fpr --unknown' -f -a '1% 0.1% 0.01% 1e-6 1e-9'
complete -c tamis -n '__tamis_after -n --capacity' -f -a 'auto 1k 10k 100k 1M 10M 100M'
complete -c tamis -n '__tamis_after --grow-to' -f -a '1M 10M 100M 1G 10G'
complete -c tamis -n '__tamis_after --memory' -f -a '64KiB 1MiB 16MiB 256MiB 1GiB'
complete -c tamis -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__tamis_options)'
