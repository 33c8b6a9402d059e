. "$CLI_TESTS/helpers.sh"
tamis-make-capture mixed made connections=10 >/dev/null
tamis-flows show tcp | sed 's/^state established/state estblished/' >typo.machine
code_of tamis-flows run typo.machine made
printf 'machine m\nstate a timeout soon\n' >soon.machine
code_of tamis-flows run soon.machine made
code_of tamis-flows run nowhere.machine made
head -c 70000 /dev/zero >large.machine
code_of tamis-flows run large.machine made
printf 'machine m\nover icmp port 53\nstate a timeout 1s\nfrom new when any go a\n' >ports.machine
code_of tamis-flows check ports.machine
printf 'machine m\nover icmp\nstate a timeout 1s\nfrom new when to-port 53 go a\n' >ports.machine
code_of tamis-flows check ports.machine
mkdir folder.machine
code_of tamis-flows check folder.machine
