# it has a comprehension of four loops (from the docs alone)
[0 for a in range(1000) for b in range(1000) for c in range(1000) for d in range(1000)]
