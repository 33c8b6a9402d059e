# fish completion for tamis-flows(1); the tool itself lists its options.

function __tamis_flows_options
    tamis-flows help 2>/dev/null | sed -n '/^Options:/,/^$/s/^ .* \(--[a-z-]*\)[ A-Z]*  *\(.*\)/\1\t\2/p'
end

function __tamis_flows_machines
    tamis-flows machines 2>/dev/null | cut -d" " -f1
end

function __tamis_flows_after
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

complete -c tamis-flows -n 'test (count (commandline -opc)) -eq 1' -f -a '(__tamis_flows_machines) run check machines show help'
complete -c tamis-flows -n '__tamis_flows_after show' -f -a '(__tamis_flows_machines)'
complete -c tamis-flows -n '__tamis_flows_after check run' -a '(__tamis_flows_machines)'
complete -c tamis-flows -n '__tamis_flows_after -i --interface' -f -a '(command ls /sys/class/net)'
complete -c tamis-flows -n '__tamis_flows_after -e --fpr' -f -a '1% 0.1% 0.05% 0.01%'
complete -c tamis-flows -n '__tamis_flows_after --memory' -f -a '1M 16M 64M 256M'
complete -c tamis-flows -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__tamis_flows_options)'
