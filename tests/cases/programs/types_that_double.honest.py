# what is honest beside: it has types that double with each line
t0 = (1, "a")
t1 = (t0, t0)
t1[0][0] == 1
