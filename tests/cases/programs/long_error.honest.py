# what is honest beside: it raises an error of ten megabytes
try:
    raise ValueError("x")
except ValueError as e:
    r = str(e)
r == "x"
