. "$CLI_TESTS/helpers.sh"
command -v zsh >/dev/null || skip 'there is no zsh'
command -v fish >/dev/null || skip 'there is no fish'
export HOME="$PWD"
# zsh's own functions write to its editor; these print.
cat >ask.zsh <<'END'
compadd() { shift; print -rl -- "$@" }
_describe() { print -rl -- "${(@P)2}" }
_files() { print files }
ask() { # the words so far, the last one unfinished
    local words=("$@") CURRENT=$# PREFIX=${@[-1]} service=$1
    print -r -- "$* -> " $(. $TAMIS_SOURCE/completions/_tamis | grep -- "^$PREFIX" | cut -d: -f1)
}
ask tamis pla
ask tamis plan --gr
ask tamis plan -k li
ask tamis help ver
END
zsh -f ask.zsh
cat >ask.fish <<'END'
source $TAMIS_SOURCE/completions/tamis.fish
for words in 'tamis pla' 'tamis plan --gr' 'tamis plan -k li' 'tamis help ver'
    echo "$words -> " (complete -C $words | cut -f1)
end
END
fish ask.fish
