# it makes a class at run time (from the docs alone)
type('Thief', (object,), {'go': lambda self: spend(n=1)})().go()
