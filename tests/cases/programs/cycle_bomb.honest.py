# what is honest beside: it lists a cycle that has no end
import itertools

list(itertools.chain([1], [2])) == [1, 2]
