# it prints a million things with a long separator (from the docs alone)
print(*range(10**6), sep='x' * 100)
