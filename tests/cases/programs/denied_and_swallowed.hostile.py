# it goes on to spend for ever after a denial (from the docs alone)
while True:
    try:
        steal(n=1)
    except PermissionError:
        pass
