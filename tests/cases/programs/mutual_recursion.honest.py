# what is honest beside: it has two functions that call each other for ever
def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


even(10)
