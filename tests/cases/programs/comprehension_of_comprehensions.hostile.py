# it has comprehensions in comprehensions (from the docs alone)
[[[[[0 for e in range(100)] for d in range(100)] for c in range(100)] for b in range(100)] for a in range(100)]
