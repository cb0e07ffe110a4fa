# what is honest beside: it computes a number of a billion digits
10**30 % 7 == 1
