# what is honest beside: it returns a million empty lists
len([[] for i in range(10**3)]) == 1000
