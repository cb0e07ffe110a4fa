# what is honest beside: it calls itself for ever
def f(n):
    return n if n > 50 else f(n + 1)


f(0) == 51
