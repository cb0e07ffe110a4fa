# what is honest beside: it returns a very deep list
x = []
for i in range(10):
    x = [x]
x != []
