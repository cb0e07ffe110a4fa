# what is honest beside: it raises to read a frame
try:
    1 / 0
except ZeroDivisionError as e:
    r = str(e)
"division" in r
