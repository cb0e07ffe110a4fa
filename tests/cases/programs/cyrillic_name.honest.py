# what is honest beside: it calls a tool by letters of another alphabet
spend(n=1) == 1
