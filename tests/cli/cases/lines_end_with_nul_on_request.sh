printf 'a\nb\0c\0d' | tamis build -0 set.tamis --kind bloom -e 1e-9 --remove 2>&1 | cat
printf 'a\nb\0c\0d' | tamis build -0 set.tamis --kind counting -n 10 -e 1e-9 --seed 1
printf 'd\0a\nb\0x\0' | tamis has -0 set.tamis | od -An -c
printf 'd\0a\nb\0x\0' | tamis has -0v set.tamis | od -An -c
printf 'd\0a\nb\0x\0' | tamis count -0 set.tamis | od -An -c
printf 'd\0d\0' | tamis add --null set.tamis
printf 'd\0' | tamis remove -0 set.tamis
printf 'd\0' | tamis count -0 set.tamis | od -An -c
printf 'a\nb\0c\0a\nb\0' | tamis dedup -0 -n 100 -e 1e-9 | od -An -c
printf 'b\n' | tamis has set.tamis || echo "'b' alone is no key"
