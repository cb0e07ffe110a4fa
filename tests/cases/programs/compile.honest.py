# what is honest beside: it compiles a text
spend(n=1) == 1
