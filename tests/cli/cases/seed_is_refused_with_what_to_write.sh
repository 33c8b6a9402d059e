. "$CLI_TESTS/helpers.sh"
for seed in x '' 0x 0xg -1 18446744073709551616 0x123456789012345678901234567890123; do
    code_of tamis build set.tamis --seed "$seed"
done
