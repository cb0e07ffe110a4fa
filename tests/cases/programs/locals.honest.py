# what is honest beside: it reads the locals
spend(n=1) == 1
