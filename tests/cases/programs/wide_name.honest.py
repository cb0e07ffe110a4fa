# what is honest beside: it calls a tool that is denied by wide letters
spend(n=2) == 2
