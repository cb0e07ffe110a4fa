# it never leaves the end of a block (from the docs alone)
def f():
    try:
        return 1
    finally:
        while True:
            pass


f()
