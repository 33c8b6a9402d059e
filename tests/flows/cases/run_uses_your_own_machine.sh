# Find connections with large packets to port 443.
cat >large.machine <<'END'
machine large "Large packets"
over tcp port 443

state quiet  timeout 10m
state loud   timeout 10m

from new    when size >= 1000 and to-port 443  go loud   event large
from new    when any                           go quiet
from quiet  when size >= 1000 and to-port 443  go loud   event large
END
tamis-make-capture mixed made connections=500 >/dev/null
tamis-flows run large.machine --json --seed 1 made | tail -n 1 | grep -o '"states":{[^}]*}'
tamis-flows run large.machine --json --seed 1 made | grep -c '"event":"large"'
