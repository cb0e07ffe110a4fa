# what is honest beside: it assigns to the name of a tool inside an expression
[(a := 3), a + 1] == [3, 4]
