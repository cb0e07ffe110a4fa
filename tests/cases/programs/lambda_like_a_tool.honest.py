# what is honest beside: it has a lambda's parameter with the name of a tool
(lambda a: a + 1)(3) == 4
