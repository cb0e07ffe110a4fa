# it assigns to the name of a tool inside an expression (from the docs alone)
[(spend := 3), spend(n=1)]
