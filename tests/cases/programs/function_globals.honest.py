# what is honest beside: it reads the globals of a function
def f():
    return spend(n=1)


f() == 1
