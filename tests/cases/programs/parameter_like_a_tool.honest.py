# what is honest beside: it has a parameter with the name of a tool
def f(amount):
    return spend(n=amount)


f(3) == 3
