tamis help >overview
tamis --help | cmp - overview
tamis -h | cmp - overview
cat overview
