# it shifts one by ten billion bits (from the docs alone)
x = 1 << 10**10
