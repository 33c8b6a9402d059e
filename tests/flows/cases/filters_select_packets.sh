tamis-make-capture mixed made connections=300 >/dev/null
summary() { tamis-flows tcp --json --seed 1 -f "$1" made | tail -n 1 | tr ',' '\n' | grep -m 1 "^\"$2\":"; }
summary 'ip6 or (vlan and ip6)' flows
summary 'tcp[tcpflags] & tcp-rst != 0' packets
tamis-flows tcp -f 'host and' made
