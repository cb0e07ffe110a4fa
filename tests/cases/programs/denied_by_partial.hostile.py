# it makes a call that is denied by a partial function (from the docs alone)
import functools

functools.partial(steal, n=1)()
