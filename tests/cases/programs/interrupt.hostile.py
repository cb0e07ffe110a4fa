# it raises an interrupt (from the docs alone)
raise KeyboardInterrupt
