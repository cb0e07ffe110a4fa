# it reads the locals
locals()["spend"](n=1)
