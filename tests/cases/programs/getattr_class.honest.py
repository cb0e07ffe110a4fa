# what is honest beside: it reads a class by its name
hasattr("a", "__class__") in (True, False)
