# what is honest beside: it reads the builtins
spend(n=1) == 1
