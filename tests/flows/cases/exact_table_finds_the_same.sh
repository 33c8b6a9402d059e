tamis-make-capture mixed made connections=2000 loss=5 >/dev/null
tamis-flows tcp --json --seed 1 --exact made | tail -n 1 | grep -o '"flows":.*"table"' >exact
tamis-flows tcp --json --seed 1 -e 1e-9 made | tail -n 1 | grep -o '"flows":.*"table"' >small
sed -i 's/"aged":.*"half_open"//; s/"flows_now":.*"refused"//; s/"states":{[^}]*}//' exact small
diff exact small
