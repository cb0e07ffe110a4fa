# what is honest beside: it catches an error under the name of a tool
try:
    1 / 0
except ZeroDivisionError as e:
    r = str(e)
r != ''
