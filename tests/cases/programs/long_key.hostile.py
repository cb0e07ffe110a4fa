# it returns a dictionary with a key of ten megabytes (from the docs alone)
{'x' * 10**7: 1}
