# By default and with -n auto; from a file, a redirection, a pipe, a named pipe, and several.
made() { tamis info "$1" | sed -n "s/^  keys .*, \\(made for .*\\)/$1: \\1/p"; }
seq 1000 >keys
tamis build -q --kind counting a.tamis keys && made a.tamis
tamis build -q --kind counting b.tamis -n auto <keys && made b.tamis
tamis build -q --kind counting c.tamis <keys && made c.tamis
seq 70000 | tamis build -q --kind counting d.tamis && made d.tamis
seq 70000 | tamis has -c d.tamis
mkfifo pipe
(seq 2001 3000 >pipe) &
seq 1001 2000 | tamis build -q --kind counting e.tamis keys pipe - && made e.tamis
seq 3000 | tamis has -c e.tamis
tamis build -q --kind counting f.tamis </dev/null && made f.tamis
{ read -r first; echo "$first"; tamis build -q --kind counting g.tamis; made g.tamis; } <keys
find . -name 'tamis-*' # no copy has a name
