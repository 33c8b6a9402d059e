. "$CLI_TESTS/helpers.sh"
code_of tamis plan -n 1000 --kind blom
code_of tamis plan -n 1000 --kind nonsense
code_of tamis build x.tamis --hash md5
code_of tamis plan -n 1000 --overflow 2
code_of tamis plan -n 1000 --overflow x
code_of tamis plan -n 1000 --lifetime 0
code_of tamis plan -n 1000 --lifetime x
code_of tamis plan -n 1000 --lifetime 999 --remove
code_of tamis plan -n 1000 --fast --small
code_of tamis plan -n 1000 --nonsense
code_of tamis plan -n 1000 -x
code_of tamis plan -n
code_of tamis plan -n 1000 --kind
code_of tamis plan -n 1000 --json=yes
code_of tamis plan
code_of tamis plan -n auto
code_of tamis plan -n 1000 file
code_of tamis has a.tamis --threads 0
code_of tamis has a.tamis --threads 257
code_of tamis has a.tamis --threads many
code_of tamis count a.tamis --threads 2
code_of tamis has
code_of tamis info
code_of tamis merge a.tamis b.tamis
code_of tamis convert a.tamis b.tamis c.tamis --kind bloom
code_of tamis dedup --geometry hashes=3
code_of tamis dedup -n auto
code_of tamis convert a.tamis b.tamis
code_of tamis plan -n 1000 --json --code
code_of tamis plan -n 1000 --grow-to x
code_of tamis plan -n 1000 --grow-to 0
code_of tamis plan -n 1000 --grow-to 2T
code_of tamis plan -n 1000 --grow-to 100
code_of tamis plan -n 1000 --grow-to 1M --memory 1MiB
code_of tamis plan -n 1000 --grow-to 1M --kind line --geometry counter_bits=4
code_of tamis build x.tamis -n 1000 --grow-to 1M --kind bloom
code_of tamis build x.tamis -n 1000 --grow-to 1G -e 1e-9 --kind line
code_of tamis dedup -n 1000 --grow-to 1G -e 1e-9 --kind line
code_of tamis resize
code_of tamis resize a.tamis
code_of tamis resize a.tamis x
code_of tamis resize a.tamis 0
code_of tamis resize a.tamis 10
