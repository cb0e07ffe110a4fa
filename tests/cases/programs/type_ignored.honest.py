# what is honest beside: it asks the check to ignore a line
spend(n=1) == 1  # type: ignore
