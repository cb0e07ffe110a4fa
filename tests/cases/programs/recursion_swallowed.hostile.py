# it recurses twice more for each time that it is stopped (from the docs alone)
def f():
    try:
        f()
    except BaseException:
        f()
        f()


f()
f()
raise ValueError('done')
