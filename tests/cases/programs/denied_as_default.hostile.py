# it calls a tool that is denied in the default of a parameter (from the docs alone)
def f(x=steal(n=1)):
    return x


f()
