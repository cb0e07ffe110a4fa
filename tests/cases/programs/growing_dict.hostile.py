# it grows a dictionary for ever
d = {}
i = 0
while True:
    i += 1
    d[i] = [i] * 100
