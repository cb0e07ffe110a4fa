# what is honest beside: it grows a list for ever
x = []
for i in range(1000):
    x.append("a")
len(x) == 1000
