# it returns a dictionary that holds itself (from the docs alone)
d = {}
d['list'] = [d]
d
