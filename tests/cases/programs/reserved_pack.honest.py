# what is honest beside: it forges the call that crosses
spend(n=1) == 1
