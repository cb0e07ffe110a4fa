# it gives a tool more than it takes
x = {"n": 1, "admin": True}
spend(**x)
