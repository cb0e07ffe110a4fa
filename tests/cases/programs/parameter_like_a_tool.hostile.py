# it has a parameter with the name of a tool (from the docs alone)
def f(spend):
    return spend(n=1)


f(3)
