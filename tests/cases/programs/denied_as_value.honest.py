# what is honest beside: it calls a denied tool by another name
f = spend
f(n=1) == 1
