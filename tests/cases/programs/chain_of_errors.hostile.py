# it raises errors because of errors without end (from the docs alone)
e = ValueError('x')
while True:
    try:
        raise ValueError('x' * 1000) from e
    except ValueError as f:
        e = f
