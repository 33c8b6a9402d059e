tamis-make-capture mixed made connections=100 >/dev/null
tamis-flows tcp --json --seed 1 made | sed 's/,"speed":.*//' >one
tamis-flows run tcp --json --seed 1 made | sed 's/,"speed":.*//' >two
tamis-flows show tcp >mine.machine
tamis-flows run mine.machine --json --seed 1 made | sed 's/,"speed":.*//' >three
diff one two
diff one three
tamis-flows machines
