# what is honest beside: it has a NUL character
x = "\0"
len(x) == 1
