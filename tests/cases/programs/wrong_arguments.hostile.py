# it gives a tool what its schema refuses
x = {"n": "all"}
spend(n=x["n"])
