# it grows a list for ever
x = []
while True:
    x.append("a" * 1000)
