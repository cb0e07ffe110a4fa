# it reads the globals of a function
def f():
    pass


f.__globals__["spend"](n=1)
