# it returns a million empty lists
[[] for i in range(10**6)]
