# what is honest beside: it returns shared lists that are terabytes when they are said
x = [0] * 10
x = [x] * 10
x == [[0] * 10] * 10
