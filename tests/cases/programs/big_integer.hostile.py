# it computes a number of a billion digits
x = 10 ** (10**9)
