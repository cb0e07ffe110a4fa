# it has a lambda's parameter with the name of a tool (from the docs alone)
(lambda spend: spend(n=1))(3)
