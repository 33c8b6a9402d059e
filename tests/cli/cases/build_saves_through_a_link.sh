mkdir elsewhere
ln -s elsewhere/set.tamis link
echo a | tamis build -q elsewhere/set.tamis
echo b | tamis build -q link -e 1e-9
test -L link
printf 'a\nb\n' | tamis has elsewhere/set.tamis
