# what is honest beside: it has ten thousand subscripts
x = [[1]]
x[0][0] == 1
