. "$CLI_TESTS/helpers.sh"
as=
if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null || skip 'root writes everywhere, and there is no setpriv'
    as='setpriv --reuid=65534 --regid=65534 --clear-groups'
    $as tamis --version >/dev/null 2>&1 || skip 'others cannot run the tool here'
fi
mkdir folder
seq 10 | tamis build -q folder/set.tamis
cp folder/set.tamis before
chmod 555 folder
echo 11 | code_of $as tamis add folder/set.tamis
echo 11 | code_of $as tamis build folder/set.tamis
echo 11 | code_of $as tamis build folder/new.tamis
cmp folder/set.tamis before
ls -A folder
chmod 000 before
code_of $as tamis has before
