# it never ends
while True:
    pass
