# it copies what holds itself, again and again (from the docs alone)
import copy

x = []
x.append(x)
while True:
    x = [x, copy.deepcopy(x)]
