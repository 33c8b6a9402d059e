. "$CLI_TESTS/helpers.sh"
seq 10 | tamis build -q set.tamis -n 100
chmod 640 set.tamis
seq 11 20 | tamis add -q set.tamis
stat -c %a set.tamis
[ "$(id -u)" = 0 ] || skip 'only root can see whether an owner is kept'
chown 12345:23456 set.tamis
seq 21 30 | tamis add -q set.tamis
stat -c '%a %u %g' set.tamis
