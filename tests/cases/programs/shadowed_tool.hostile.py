# it puts a function in the place of a tool
def spend(n):
    return 0


spend(n=1)
