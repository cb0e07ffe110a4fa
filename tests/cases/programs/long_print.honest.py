# what is honest beside: it prints two megabytes at once
print("x" * 1000)
True
