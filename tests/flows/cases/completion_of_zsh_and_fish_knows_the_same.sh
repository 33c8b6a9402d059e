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
ask tamis-flows ''
ask tamis-flows show t
ask tamis-flows check t
ask tamis-flows tcp --log-
END
zsh -f ask.zsh
cat >ask.fish <<'END'
source $TAMIS_SOURCE/completions/tamis-flows.fish
for words in 'tamis-flows ' 'tamis-flows show t' 'tamis-flows check t' 'tamis-flows tcp --log-'
    echo "$words -> " (complete -C $words | cut -f1 | sort)
end
END
fish ask.fish
