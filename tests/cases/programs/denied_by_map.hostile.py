# it maps a tool that is denied over a list (from the docs alone)
list(map(steal, [1, 2]))
