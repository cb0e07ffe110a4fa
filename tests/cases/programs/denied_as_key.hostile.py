# it sorts by a tool that is denied (from the docs alone)
sorted([2, 1], key=steal)
