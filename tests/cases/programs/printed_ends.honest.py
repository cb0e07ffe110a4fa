# what is honest beside: it prints little with long ends
print('a', end='')
True
