# what is honest beside: it returns a dictionary with a key of ten megabytes
{'x' * 3: 1} == {'xxx': 1}
