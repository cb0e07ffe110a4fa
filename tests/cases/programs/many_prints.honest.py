# what is honest beside: it prints a million lines
for i in range(10):
    print("hello")
True
