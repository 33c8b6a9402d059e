tamis | head -n 1
tamis >/dev/null
