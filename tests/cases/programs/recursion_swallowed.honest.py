# what is honest beside: it recurses twice more for each time that it is stopped
def f(n):
    return n if n == 0 else f(n - 1)


f(50) == 0
