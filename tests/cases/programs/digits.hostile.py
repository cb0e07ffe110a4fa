# it returns the digits of a number of millions of them (from the docs alone)
s = str(10 ** 10**6)
s + s
