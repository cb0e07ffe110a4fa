# what is honest beside: it calls a tool that is denied
spend(n=1) == 1
