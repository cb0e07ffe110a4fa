# what is honest beside: it ends with success before its end
try:
    raise RuntimeError('a')
except RuntimeError:
    r = True
r
