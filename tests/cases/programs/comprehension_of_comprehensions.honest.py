# what is honest beside: it has comprehensions in comprehensions
[[0 for b in range(2)] for a in range(2)] == [[0, 0], [0, 0]]
