# what is honest beside: it has a comprehension's variable with the name of a tool
[spend(n=a) for a in [3]] == [3]
