# What a message advises must work.
. "$CLI_TESTS/helpers.sh"
seq 10 >keys
tamis build -q dlbf.tamis --kind dlbf keys
code_of tamis merge out.tamis dlbf.tamis dlbf.tamis
tamis build -q ours.tamis --kind line --merge keys
code_of tamis merge -q out.tamis ours.tamis ours.tamis
tamis send -q ours.tamis >ours.stream
code_of tamis has ours.stream keys
code_of tamis info ours.stream
tamis receive -q received.tamis ours.stream
tamis has -c received.tamis keys
