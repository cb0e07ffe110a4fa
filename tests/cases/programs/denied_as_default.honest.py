# what is honest beside: it calls a tool that is denied in the default of a parameter
def f(x=echo(value=1)):
    return x


f() == 1
