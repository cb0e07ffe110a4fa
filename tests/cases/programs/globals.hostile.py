# it reads the globals
globals()["spend"](n=1)
