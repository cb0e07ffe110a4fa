# what is honest beside: it raises an interrupt
try:
    raise KeyError('a')
except KeyError:
    r = True
r
