tamis --version | grep -c '^tamis [0-9]*\.[0-9]*\.[0-9]*$'
tamis -V | grep -c '^tamis [0-9]'
