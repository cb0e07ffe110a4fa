# it changes the code of a function (from the docs alone)
f = lambda: 0
f.__code__ = f.__code__.replace(co_names=('spend',))
f()
