# it catches an error under the name of a tool (from the docs alone)
try:
    1 / 0
except ZeroDivisionError as spend:
    spend(n=1)
