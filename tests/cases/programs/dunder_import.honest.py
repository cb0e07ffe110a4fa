# what is honest beside: it imports by the builtin
spend(n=1) == 1
