# what is honest beside: it counts what a generator never ends to give
sum(1 for a in range(10)) == 10
