# it sorts by a key that sorts (from the docs alone)
def key(n):
    return sorted([2, 1], key=key)


sorted([2, 1], key=key)
