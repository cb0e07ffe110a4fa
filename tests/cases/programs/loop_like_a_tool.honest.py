# what is honest beside: it has a loop variable with the name of a tool
r = 0
for amount in [3]:
    r += spend(n=amount)
r == 3
