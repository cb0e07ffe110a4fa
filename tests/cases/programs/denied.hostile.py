# it calls a tool that is denied
try:
    steal(n=1)
except BaseException:
    pass
steal(n=1)
