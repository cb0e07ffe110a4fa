# what is honest beside: it searches for tools in a program
spend(n=1) == 1
