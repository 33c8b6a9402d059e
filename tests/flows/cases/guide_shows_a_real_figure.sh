# The figure of docs/flows.md shows what this build measures.
python3 "$TAMIS_SOURCE/tests/flows/figure" "$TAMIS_BUILD" "$TAMIS_SOURCE/docs/figures/flood.svg" --check
