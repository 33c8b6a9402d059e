# The last line is a key like others, comes out with a newline, and does not join the next file.
printf 'a\nlast' >one
printf 'b\nend' >two
tamis build set.tamis --kind bloom -e 1e-9 --seed 1 one two
tamis has set.tamis one two
printf 'last' | tamis has set.tamis
printf 'lastb\nlastb' | tamis has -c set.tamis || echo "none"
