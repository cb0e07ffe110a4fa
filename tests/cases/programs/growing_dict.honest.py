# what is honest beside: it grows a dictionary for ever
d = {i: i for i in range(1000)}
len(d) == 1000
