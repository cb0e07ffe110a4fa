# it makes ten gigabytes of zeros (from the docs alone)
bytes(10**10)
