# Captures that gzip, xz and zstd have compressed are read like the originals: also in several parts, from a pipe, and as
# pcapng. Where the compressed data are cut off or damaged, everything before is read.
. "$CLI_TESTS/helpers.sh"
for tool in gzip xz zstd; do command -v $tool >/dev/null || skip "$tool is not installed"; done
tamis-make-capture mixed sample.pcap connections=500 seed=7 >/dev/null
tamis-make-capture mixed sample.ng connections=500 seed=7 format=ng >/dev/null 2>&1 || cp sample.pcap sample.ng
count() { tamis-flows tcp --seed 1 --json "$@" | tail -n 1 | sed 's/,"speed".*//' | cksum; }
count sample.pcap >wanted
count sample.ng >wanted.ng
half=$(($(wc -c <sample.pcap) / 2))
for tool in gzip xz zstd; do
    $tool -c sample.pcap >sample.$tool
    count sample.$tool | cmp - wanted
    count - <sample.$tool | cmp - wanted
    $tool -c sample.ng | count - | cmp - wanted.ng
    { head -c $half sample.pcap | $tool -c; tail -c +$((half + 1)) sample.pcap | $tool -c; } >parts
    count parts | cmp - wanted
    head -c $(($(wc -c <sample.$tool) * 2 / 3)) sample.$tool >cut.$tool
    code_of tamis-flows tcp -q cut.$tool
    cp sample.$tool bad.$tool
    damage bad.$tool $(($(wc -c <sample.$tool) / 2))
    code_of tamis-flows tcp -q bad.$tool >>codes
done
sort codes | uniq -c | sed 's/^ *//'
bzip2 -c sample.pcap >sample.bz2 2>/dev/null || printf 'BZh91AY' >sample.bz2
code_of tamis-flows tcp sample.bz2
