# it changes a builtin function for the programs after it (from the docs alone)
len.__call__ = lambda x: 0
__builtins__['len'] = lambda x: 0
raise ValueError('done')
