. "$CLI_TESTS/helpers.sh"
seq 1000 >keys
for kind in bloom counting ddlcbf; do
    tamis build -q "$kind.tamis" --kind "$kind" keys
    code_of tamis send "$kind.tamis" >out
    cat out
done
tamis build -q rank.tamis --kind rank keys
tamis send -q rank.tamis >stream
code_of tamis receive got.tamis stream --kind bloom
code_of tamis receive got.tamis stream --like bloom.tamis
code_of tamis receive got.tamis stream --kind sponge
test ! -e got.tamis
