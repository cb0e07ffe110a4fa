# what is honest beside: it sorts by a tool that is denied
sorted([2, 1], key=lambda n: n) == [1, 2]
