# what is honest beside: it raises an error about a list that holds itself
try:
    raise ValueError(str([1]))
except ValueError as e:
    r = str(e)
r == '[1]'
