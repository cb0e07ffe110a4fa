# it returns a very deep list
x = []
for i in range(10**5):
    x = [x]
x
