# Of a path that is too long for a message, the end is kept: the name of the file is there.
. "$CLI_TESTS/helpers.sh"
folder=$(printf 'folder%.0s' $(seq 30))
mkdir "$folder"
echo hello >"$folder/words.txt"
code_of tamis has "$folder/words.txt"
code_of tamis has "$folder/absent.tamis"
