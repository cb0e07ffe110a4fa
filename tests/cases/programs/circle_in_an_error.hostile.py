# it raises an error about a list that holds itself (from the docs alone)
x = []
x.append(x)
raise ValueError(x)
