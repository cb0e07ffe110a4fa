# it returns shared lists that are terabytes when they are said
x = [0] * 1000
for i in range(6):
    x = [x] * 1000
x
