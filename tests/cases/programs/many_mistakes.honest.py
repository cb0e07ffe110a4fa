# what is honest beside: it has a thousand mistakes
spend(n=1) == 1
