# what is honest beside: it imports what stands beside it
spend(n=1) == 1
