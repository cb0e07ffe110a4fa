# what is honest beside: it imports sys
import functools

functools.reduce(lambda a, b: a + b, [1, 2]) == 3
