. "$CLI_TESTS/helpers.sh"
command -v "${CC:-cc}" >/dev/null || skip 'there is no C compiler'
flags='-std=c11 -Wall -Wextra -Werror -pedantic'
if nm -D "$TAMIS_BUILD/libtamis.so" | grep -q __asan; then flags="$flags -fsanitize=address,undefined"; fi
number=0
for options in '' '--remove' '--count --remove --merge -e 1e-6 --lifetime 1M --overflow 1e-12' \
    '--kind counting --geometry hashes=7,counter_bits=5'; do
    number=$((number + 1))
    # shellcheck disable=SC2086 # lists of words
    tamis plan -n 10k $options --code >set.c
    # shellcheck disable=SC2086
    ${CC:-cc} $flags -I"$TAMIS_SOURCE/include" set.c -o "set$number" -L"$TAMIS_BUILD" -ltamis \
        -Wl,-rpath,"$TAMIS_BUILD"
    "./set$number"
done
grep -o 'spec.geometry = .*' set.c
grep -o 'spec.kind = "[a-z]*";' set.c
