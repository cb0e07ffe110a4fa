# what is honest beside: it returns a list that holds itself
x = []
x.append(1)
x == [1]
