# what is honest beside: it reads the globals
spend(n=1) == 1
