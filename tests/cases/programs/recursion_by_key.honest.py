# what is honest beside: it sorts by a key that sorts
sorted([[2, 1], [1]], key=lambda x: len(x)) == [[1], [2, 1]]
