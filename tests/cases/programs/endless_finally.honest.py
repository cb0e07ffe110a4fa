# what is honest beside: it never leaves the end of a block
def f():
    try:
        return 1
    finally:
        pass


f() == 1
