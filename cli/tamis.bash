# bash completion for tamis(1)
#
# Commands, options and kinds are asked from the tool, so they are never out of date.

_tamis_commands() {
    "$1" help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'
}

_tamis_options() {
    "$1" help "$2" 2>/dev/null | sed -n '/^Options:/,/^$/s/.* \(--[a-z-]*\).*/\1/p'
}

_tamis_kinds() {
    "$1" kinds 2>/dev/null | cut -d' ' -f1
}

_tamis() {
    local tool=$1 word=$2 before=$3 command=${COMP_WORDS[1]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_tamis_commands "$tool") help --version" -- "$word")
        return
    fi
    if [[ $command == help ]] && ((COMP_CWORD > 2)); then return; fi # help takes one command
    case $before in
    help) mapfile -t COMPREPLY < <(compgen -W "$(_tamis_commands "$tool")" -- "$word") ;;
    -k | --kind) mapfile -t COMPREPLY < <(compgen -W "$(_tamis_kinds "$tool")" -- "$word") ;;
    --hash) mapfile -t COMPREPLY < <(compgen -W "xxh3 siphash" -- "$word") ;;
    -n | --capacity) mapfile -t COMPREPLY < <(compgen -W "auto 1k 10k 100k 1M 10M 100M" -- "$word") ;;
    --grow-to) mapfile -t COMPREPLY < <(compgen -W "1M 10M 100M 1G 10G" -- "$word") ;;
    -e | --fpr | --unknown) mapfile -t COMPREPLY < <(compgen -W "1% 0.1% 0.01% 1e-6 1e-9" -- "$word") ;;
    --memory) mapfile -t COMPREPLY < <(compgen -W "64KiB 1MiB 16MiB 256MiB 1GiB" -- "$word") ;;
    --shards) mapfile -t COMPREPLY < <(compgen -W "16 64 256 1024" -- "$word") ;;
    --wait) mapfile -t COMPREPLY < <(compgen -W "0 1 2" -- "$word") ;;
    --threads) mapfile -t COMPREPLY < <(compgen -W "1 2 4 8 16" -- "$word") ;;
    --like | --set)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        ;;
    --geometry | --lifetime | --overflow | --seed | --values | --timeout | --cluster) ;;
    *)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(_tamis_options "$tool" "$command")" -- "$word")
        else
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    esac
}

complete -F _tamis tamis
