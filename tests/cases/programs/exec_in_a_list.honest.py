# what is honest beside: it takes exec out of a list
[spend][0](n=1) == 1
