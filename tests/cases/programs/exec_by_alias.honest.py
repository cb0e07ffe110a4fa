# what is honest beside: it executes a text by another name
run = spend
run(n=1) == 1
