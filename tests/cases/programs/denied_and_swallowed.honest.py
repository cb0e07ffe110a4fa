# what is honest beside: it goes on to spend for ever after a denial
try:
    steal(n=1)
    r = False
except PermissionError:
    r = True
r
