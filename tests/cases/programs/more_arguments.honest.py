# what is honest beside: it gives a tool more than it takes
x = {"n": 1}
spend(**x) == 1
