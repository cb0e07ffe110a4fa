# it has a comprehension's variable with the name of a tool (from the docs alone)
[spend(n=1) for spend in [3]]
