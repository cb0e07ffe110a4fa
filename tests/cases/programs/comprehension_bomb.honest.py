# what is honest beside: it has a comprehension of four loops
len([0 for a in range(10) for b in range(10)]) == 100
