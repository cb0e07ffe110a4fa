# it multiplies all numbers (from the docs alone)
n = 1
for i in range(1, 10**9):
    n *= i
n
