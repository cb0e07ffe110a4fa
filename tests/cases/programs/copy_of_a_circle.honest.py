# what is honest beside: it copies what holds itself, again and again
import copy

copy.deepcopy([1, [2]]) == [1, [2]]
