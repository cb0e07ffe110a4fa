# it joins large strings with a large one (from the docs alone)
s = 'x' * 10**6
s.join([s] * 10**4)
