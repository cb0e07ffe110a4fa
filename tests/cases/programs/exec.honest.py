# what is honest beside: it executes a text
spend(n=1) == 1
