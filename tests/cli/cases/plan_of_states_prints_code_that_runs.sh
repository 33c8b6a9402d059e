. "$CLI_TESTS/helpers.sh"
command -v "${CC:-cc}" >/dev/null || skip 'there is no C compiler'
flags='-std=c11 -Wall -Wextra -Werror -pedantic'
if nm -D "$TAMIS_BUILD/libtamis.so" | grep -q __asan; then flags="$flags -fsanitize=address,undefined"; fi
for options in '--values 8' '--values 4294967296 --timeout 60 --unknown 1e-6 --lifetime 10M --overflow 1e-12' \
    '--values 3 --timeout 60 --kind state_print --geometry permuted=0'; do
    # shellcheck disable=SC2086 # lists of words
    tamis plan -n 100k $options --code >states.c
    # shellcheck disable=SC2086
    ${CC:-cc} $flags -I"$TAMIS_SOURCE/include" states.c -o states -L"$TAMIS_BUILD" -ltamis \
        -Wl,-rpath,"$TAMIS_BUILD"
    ./states
done
grep -o 'spec.geometry = .*' states.c
grep -o 'spec.kind = "[a-z_]*";' states.c
