. "$CLI_TESTS/helpers.sh"
command -v bash >/dev/null || skip 'there is no bash'
touch words.txt words.tamis
cat >ask.bash <<'END'
. "$TAMIS_SOURCE/cli/tamis.bash"
ask() { # the words so far, the last one unfinished
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _tamis tamis "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "$* -> ${COMPREPLY[*]}"
}
ask tamis co
ask tamis has --in
ask tamis build x --se
ask tamis send x --no
ask tamis receive x --kind ra
ask tamis plan --kind bl
ask tamis build x --hash s
ask tamis has x --threads ''
ask tamis dedup --thr
ask tamis help ver
ask tamis help has ''
ask tamis help has wo
ask tamis has wo
ask tamis build x --seed ''
COMP_WORDS=(tamis '') COMP_CWORD=1
_tamis tamis '' tamis
echo "${#COMPREPLY[@]} commands"
complete -p tamis
END
bash ask.bash
