# it deletes a tool and calls it (from the docs alone)
del spend
spend(n=1)
