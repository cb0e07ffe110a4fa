# what is honest beside: it gives a tool true where a number is due
spend(n=1) == 1
