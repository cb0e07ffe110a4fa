# it prints shared lists that are terabytes (from the docs alone)
x = [0] * 1000
for i in range(4):
    x = [x] * 1000
print(x)
