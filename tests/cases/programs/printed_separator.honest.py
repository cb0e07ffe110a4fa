# what is honest beside: it prints a million things with a long separator
print(1, 2, sep='-')
True
