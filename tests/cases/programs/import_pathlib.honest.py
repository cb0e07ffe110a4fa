# what is honest beside: it imports pathlib
import itertools

list(itertools.chain([1], [2])) == [1, 2]
