# what is honest beside: it gives a tool what its schema refuses
x = {"n": 1}
spend(n=x["n"]) == 1
