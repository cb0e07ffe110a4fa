# it prints a million lines
for i in range(10**6):
    print("hello " * 10)
