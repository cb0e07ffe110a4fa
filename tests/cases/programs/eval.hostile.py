# it evaluates a text
eval("spend(n=1)")
