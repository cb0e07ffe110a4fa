# what is honest beside: it never ends
n = 0
while n < 1000:
    n += 1
n == 1000
