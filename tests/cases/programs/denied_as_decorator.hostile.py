# it decorates a function with a tool that is denied (from the docs alone)
@steal
def f():
    return 1
