# it counts what a generator never ends to give (from the docs alone)
sum(1 for a in range(10**6) for b in range(10**6))
