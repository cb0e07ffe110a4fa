# it prints little with long ends (from the docs alone)
for i in range(1000):
    print(end='x' * 10000)
