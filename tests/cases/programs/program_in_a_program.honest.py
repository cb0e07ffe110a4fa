# what is honest beside: it runs a program in a program
spend(n=1) == 1
