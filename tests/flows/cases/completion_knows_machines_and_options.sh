# Of bash. completion_of_zsh_and_fish_knows_the_same has the others.
. "$CLI_TESTS/helpers.sh"
command -v bash >/dev/null || skip 'there is no bash'
touch mine.machine
cat >ask.bash <<'END'
. "$TAMIS_SOURCE/completions/tamis-flows.bash"
ask() { # the words so far, the last one unfinished
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _tamis_flows tamis-flows "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "$* -> ${COMPREPLY[*]}"
}
ask tamis-flows ''
ask tamis-flows show t
ask tamis-flows check t
ask tamis-flows run mi
ask tamis-flows tcp --log-
END
bash ask.bash
