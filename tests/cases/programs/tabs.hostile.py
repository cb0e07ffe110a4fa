# it expands tabs to a billion columns (from the docs alone)
('\t' * 100).expandtabs(10**8)
