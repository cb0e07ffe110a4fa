# what is honest beside: it changes the code of a function
f = lambda: 0
f() == 0
