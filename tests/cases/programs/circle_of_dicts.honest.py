# what is honest beside: it returns a dictionary that holds itself
d = {}
d['list'] = [1]
d == {'list': [1]}
