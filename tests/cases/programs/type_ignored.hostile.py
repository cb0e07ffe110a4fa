# it asks the check to ignore a line (from the docs alone)
spend(n='1')  # type: ignore
