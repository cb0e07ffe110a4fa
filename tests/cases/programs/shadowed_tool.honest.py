# what is honest beside: it puts a function in the place of a tool
def spend_twice(n):
    return spend(n=n) + 1


spend_twice(1) == 2
