# what is honest beside: it multiplies all numbers
n = 1
for i in range(1, 6):
    n *= i
n == 120
