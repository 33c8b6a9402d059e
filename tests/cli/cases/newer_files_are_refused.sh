# Byte 8 is the major version of the format.
seq 10 | tamis build -q set.tamis
printf '\002' | dd of=set.tamis bs=1 seek=8 conv=notrunc status=none
tamis info set.tamis
