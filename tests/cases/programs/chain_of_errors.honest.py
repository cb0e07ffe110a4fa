# what is honest beside: it raises errors because of errors without end
try:
    try:
        raise ValueError('a')
    except ValueError as e:
        raise KeyError('b') from e
except KeyError:
    r = True
r
