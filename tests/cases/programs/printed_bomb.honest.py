# what is honest beside: it prints shared lists that are terabytes
print([0] * 10)
True
