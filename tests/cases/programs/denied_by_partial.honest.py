# what is honest beside: it makes a call that is denied by a partial function
import functools

functools.reduce(lambda a, b: a + b, [1, 2]) == 3
