# what is honest beside: it decorates a function with a tool that is denied
def f():
    return 1


f() == 1
