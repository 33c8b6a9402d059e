. "$CLI_TESTS/helpers.sh"
seq 1000 >keys
tamis build -q a.tamis --seed 255 keys
tamis build -q b.tamis --seed 0xff keys
tamis build -q c.tamis --seed 0x000000000000000000000000000000ff keys
tamis build -q d.tamis --seed 0x100000000000000000000000000000ff keys
tamis build -q e.tamis keys
tamis build -q f.tamis keys
cmp a.tamis b.tamis
cmp a.tamis c.tamis
fails cmp -s a.tamis d.tamis # all 128 bits count
fails cmp -s e.tamis f.tamis # and without one, it is random
tamis info d.tamis | grep -o 'seed.*'
