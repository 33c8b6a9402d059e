# A received set of another size or kind counts as far as the one that was sent, or the tool says why not.
. "$CLI_TESTS/helpers.sh"
count_to() { tamis info "$1" | sed -n 's/^  counts  *//p'; }
seq 1000 >keys
tamis build -q a.tamis -n 1000 -e 1% --count-to 1000 keys
tamis send -q a.tamis >stream
tamis receive -q b.tamis -n 1100 stream
count_to a.tamis
count_to b.tamis
# only a stream with the fingerprints of a dlcbf can become one, and a dlcbf counts to 63
tamis build -q c.tamis -n 8000 -e 1% --count-to 15 --kind dlcbf --geometry buckets=1024,remainder_bits=12,counter_bits=2 keys
tamis send -q c.tamis >stream
tamis receive -q d.tamis --kind rank --count-to 1000 stream
tamis send -q d.tamis >stream
code_of tamis receive e.tamis --kind dlcbf stream
tamis receive -q e.tamis --kind dlcbf --count-to 63 stream
count_to e.tamis
