# what is honest beside: it imports Vespe and calls a tool with it
spend(n=1) == 1
