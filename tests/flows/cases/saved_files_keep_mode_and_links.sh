# The file of --state keeps its mode, and a link to it stays a link; metrics can be read by all. No other file is left.
. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=200 seed=7 >/dev/null
track() { code_of tamis-flows tcp -q --seed 1 "$@" made; }
mkdir saved other
track --state saved/state --metrics saved/prom
chmod 600 saved/state saved/prom
ln -s ../saved/state other/state
track --state other/state --metrics saved/prom
stat -c '%A %n' saved/* other/*
ls -A saved other
# A link that leads nowhere would be replaced by a file: it is refused at the start.
ln -s nowhere saved/lost
track --state saved/lost
track --metrics saved/lost
ls -A saved
