# what is honest beside: it evaluates a text
spend(n=1) == 1
