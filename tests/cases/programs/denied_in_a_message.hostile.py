# it calls a tool that is denied in the message of an assertion (from the docs alone)
assert False, steal(n=1)
