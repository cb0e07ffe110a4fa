# it returns a list that holds itself
x = []
x.append(x)
x
