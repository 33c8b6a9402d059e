# bash completion for tamis-flows(1); the tool itself lists its options.

_tamis_flows_options() {
    "$1" help 2>/dev/null | sed -n '/^Options:/,/^$/s/.* \(--[a-z-]*\).*/\1/p'
}

_tamis_flows_machines() {
    "$1" machines 2>/dev/null | cut -d' ' -f1
}

_tamis_flows() {
    local tool=$1 word=$2 before=$3
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_tamis_flows_machines "$tool") run check machines show help" -- "$word")
        return
    fi
    case $before in
    show) mapfile -t COMPREPLY < <(compgen -W "$(_tamis_flows_machines "$tool")" -- "$word") ;;
    check | run)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "$(_tamis_flows_machines "$tool")" -- "$word"; compgen -f -- "$word")
        ;;
    -i | --interface) mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/net 2>/dev/null)" -- "$word") ;;
    -e | --fpr) mapfile -t COMPREPLY < <(compgen -W '1% 0.1% 0.05% 0.01%' -- "$word") ;;
    --memory) mapfile -t COMPREPLY < <(compgen -W '1M 16M 64M 256M' -- "$word") ;;
    --flows | -k | --kind | -f | --filter | -c | --count | --seed) ;;
    *)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(_tamis_flows_options "$tool")" -- "$word")
        else
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    esac
}

complete -F _tamis_flows tamis-flows
