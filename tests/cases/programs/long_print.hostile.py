# it prints two megabytes at once
print("x" * 2 * 10**6)
