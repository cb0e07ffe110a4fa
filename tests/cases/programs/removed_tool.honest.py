# what is honest beside: it deletes a tool and calls it
spend(n=1) == 1
